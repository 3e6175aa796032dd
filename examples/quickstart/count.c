/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "words.h"

/* Hot, and small enough to be worth inlining at its hot call. */
static unsigned hash(const char *text, unsigned length)
{
    unsigned value = 2166136261u;
    for (unsigned i = 0; i < length; i++) {
        value ^= (unsigned char)text[i];
        value *= 16777619u;
    }
    return value ^ value >> 13;
}

/* What the scanner does at each kind of character. */
typedef const char *(*action)(struct words *words, const char *text);

static void add(struct words *words, const char *text, unsigned length)
{
    unsigned at = hash(text, length) & (WORDS_MAX - 1);
    while (words->slots[at].count != 0) {
        struct word *slot = &words->slots[at];
        if (strncmp(slot->text, text, length) == 0 && slot->text[length] == '\0') {
            slot->count++;
            return;
        }
        at = (at + 1) & (WORDS_MAX - 1);
    }
    if (words->used == WORDS_MAX - 1) {
        return;
    }
    memcpy(words->slots[at].text, text, length);
    words->slots[at].count = 1;
    words->used++;
}

static const char *take_word(struct words *words, const char *text)
{
    const char *start = text;
    unsigned vowels = 0;
    for (;;) {
        unsigned char c = (unsigned char)*text;
        if (c < 'a') {
            if (c >= 'A' && c <= 'Z') {
                vowels += 2;
            } else if (c == '\'' && text > start) {
                vowels ^= 1;
            } else {
                break;
            }
        } else if (c > 'z') {
            break;
        } else if (c == 'a' || c == 'e' || c == 'o') {
            vowels++;
        }
        text++;
    }
    unsigned length = (unsigned)(text - start);
    if (length >= WORD_SIZE || vowels > WORD_SIZE) {
        words->escapes += 1000;
        return text;
    }
    add(words, start, length);
    words->total++;
    return text;
}

static const char *take_space(struct words *words, const char *text)
{
    (void)words;
    return text + 1;
}

static const char *take_escape(struct words *words, const char *text)
{
    words->escapes++;
    return text[1] != '\0' ? text + 1 : text;
}

static action action_of(char c)
{
    if (c == ' ') {
        return take_space;
    }
    return c == '\\' ? take_escape : take_word;
}

void words_count(struct words *words, const char *text)
{
    while (*text != '\0') {
        const char *next = action_of(*text)(words, text);
        text = next != text ? next : text + 1;
    }
}
