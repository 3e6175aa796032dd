/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The quickstart's program: words [ROUNDS] counts the words of a made-up text so many times, and
 * each time runs a small filter over the counts. Its branches lean to one side in ways no compiler
 * can know: which is what a profile tells.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

#define TEXT_SIZE 9000

/* Most characters are letters, some are spaces, very few are anything else. */
static void make_text(char *text, size_t size)
{
    static const char *const words[] = {"branch", "record", "profile", "and", "the", "of", "taken"};
    unsigned state = 12345;
    size_t at = 0;
    while (at + 16 < size) {
        state = state * 1103515245u + 12345u;
        unsigned pick = state >> 16 & 63;
        const char *word = words[pick < 40 ? pick % 3 : pick % 7];
        size_t length = strlen(word);
        memcpy(text + at, word, length);
        at += length;
        text[at++] = pick == 63 ? '\\' : ' ';
    }
    text[at] = '\0';
}

int main(int argc, char **argv)
{
    static char text[TEXT_SIZE];
    struct words words = {0};
    unsigned checksum = 0;
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    make_text(text, sizeof text);
    for (unsigned long i = 0; i < rounds; i++) {
        words_count(&words, text);
        checksum ^= words_filter(&words);
    }
    printf("%u words, %u different, %u escapes, checksum %u\n", words.total, words.used,
           words.escapes, checksum);
    return 0;
}
