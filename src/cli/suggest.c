/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/suggest.h"

#include <stdbool.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap two neighbours) that turn one short word into the other. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][BR2_SUGGEST_WORD_MAX];
    size_t width = strlen(b);
    if (width >= BR2_SUGGEST_WORD_MAX) {
        return width;
    }
    for (size_t k = 0; k <= width; k++) {
        rows[0][k] = k;
    }
    size_t length = 0;
    for (; a[length] != '\0'; length++) {
        const size_t *above = rows[length % 3];
        size_t *row = rows[(length + 1) % 3];
        row[0] = length + 1;
        for (size_t k = 0; k < width; k++) {
            size_t change = above[k] + (a[length] != b[k]);
            row[k + 1] = least(change, least(row[k], above[k + 1]) + 1);
            if (length != 0 && k != 0 && a[length] == b[k - 1] && a[length - 1] == b[k]) {
                row[k + 1] = least(row[k + 1], rows[(length + 2) % 3][k - 1] + 1);
            }
        }
    }
    return rows[length % 3][width];
}

struct br2_suggestion br2_suggest(const char *word)
{
    return (struct br2_suggestion){.word = word, .distance = 3};
}

void br2_suggest_consider(struct br2_suggestion *suggestion, const char *candidate)
{
    const char *word = suggestion->word;
    if (word[0] == '\0') {
        return;
    }
    bool begins = strncmp(word, candidate, strlen(word)) == 0;
    size_t distance = begins ? 0 : edit_distance(word, candidate);
    if (distance < suggestion->distance) {
        suggestion->distance = distance;
        suggestion->nearest = candidate;
    }
}
