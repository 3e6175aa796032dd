/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/strings.h"

#include <string.h>

#include "base/hash.h"

/* Horner's rule over eight bytes at a time, with a secret multiplier. */
static uint32_t hash_text(const char *text, size_t length)
{
    const struct br2_hash_key *key = br2_hash_key();
    uint64_t hash = length * key->words[0];
    while (length != 0) {
        uint64_t word = 0;
        size_t size = length < sizeof word ? length : sizeof word;
        memcpy(&word, text, size);
        hash = (hash ^ word) * key->words[1];
        hash ^= hash >> 32;
        text += size;
        length -= size;
    }
    return (uint32_t)(hash * key->words[2] >> 32);
}

/* The slot that holds `text`, or the free one where it belongs. */
static size_t find_slot(const struct br2_strings *strings, const char *text, size_t length,
                        uint32_t hash)
{
    size_t mask = strings->slot_count - 1;
    size_t slot = hash & mask;
    while (strings->slots[slot] != 0) {
        const struct br2_string_entry *entry = &strings->entries[strings->slots[slot] - 1];
        if (entry->hash == hash && entry->length == length &&
            memcmp(entry->text, text, length) == 0) {
            break;
        }
        slot = (slot + 1) & mask;
    }
    return slot;
}

static int grow_slots(struct br2_strings *strings)
{
    size_t wanted = strings->slot_count != 0 ? strings->slot_count * 2 : 64;
    uint32_t *slots = br2_calloc(wanted, sizeof *slots);
    if (slots == NULL) {
        return -1;
    }
    for (size_t i = 0; i < strings->count; i++) {
        size_t slot = strings->entries[i].hash & (wanted - 1);
        while (slots[slot] != 0) {
            slot = (slot + 1) & (wanted - 1);
        }
        slots[slot] = (uint32_t)(i + 1);
    }
    br2_free(strings->slots);
    strings->slots = slots;
    strings->slot_count = wanted;
    return 0;
}

uint32_t br2_strings_add(struct br2_strings *strings, const char *text, size_t length)
{
    if (length > UINT32_MAX || strings->count >= UINT32_MAX - 1) {
        return BR2_NO_STRING;
    }
    if (strings->count >= strings->slot_count / 2 && grow_slots(strings) != 0) {
        return BR2_NO_STRING;
    }
    uint32_t hash = hash_text(text, length);
    size_t slot = find_slot(strings, text, length, hash);
    if (strings->slots[slot] != 0) {
        return strings->slots[slot] - 1;
    }
    if (!br2_grow(&strings->entries, &strings->capacity, strings->count,
                  sizeof *strings->entries)) {
        return BR2_NO_STRING;
    }
    char *copy = br2_arena_strndup(&strings->arena, text, length);
    if (copy == NULL) {
        return BR2_NO_STRING;
    }
    strings->entries[strings->count] =
        (struct br2_string_entry){.text = copy, .length = (uint32_t)length, .hash = hash};
    strings->slots[slot] = (uint32_t)++strings->count;
    return (uint32_t)(strings->count - 1);
}

uint32_t br2_strings_find(const struct br2_strings *strings, const char *text, size_t length)
{
    if (strings->slot_count == 0 || length > UINT32_MAX) {
        return BR2_NO_STRING;
    }
    uint32_t index = strings->slots[find_slot(strings, text, length, hash_text(text, length))];
    return index != 0 ? index - 1 : BR2_NO_STRING;
}

const char *br2_strings_get(const struct br2_strings *strings, uint32_t id, size_t *length)
{
    const struct br2_string_entry *entry = &strings->entries[id];
    if (length != NULL) {
        *length = entry->length;
    }
    return entry->text;
}

void br2_strings_done(struct br2_strings *strings)
{
    br2_arena_done(&strings->arena);
    br2_free(strings->entries);
    br2_free(strings->slots);
    *strings = (struct br2_strings){0};
}
