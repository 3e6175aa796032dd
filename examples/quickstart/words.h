/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BR2_QUICKSTART_WORDS_H
#define BR2_QUICKSTART_WORDS_H

#define WORDS_MAX 64 /* a power of two */
#define WORD_SIZE 16

struct word {
    char text[WORD_SIZE];
    unsigned count;
};

struct words {
    struct word slots[WORDS_MAX];
    unsigned total, used, escapes;
};

/* Adds the words of `text`. */
void words_count(struct words *words, const char *text);
/* Folds all counts into a number. */
unsigned words_filter(const struct words *words);

#endif
