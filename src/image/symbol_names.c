/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "image/symbol_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/strings.h"
#include "image/image_private.h"

/* A defined symbol that has a name and an address. */
struct entry {
    uint64_t address;
    uint64_t size;
    const char *name;
    size_t index; /* in the symbol table */
    bool function;
    bool local;
};

struct entries {
    struct entry *items; /* owned */
    size_t count;
    size_t capacity;
    size_t room; /* for names */
};

static bool take(const struct br2_image *image, const GElf_Sym *symbol, const char *name,
                 struct entry *ret)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    if (type == STT_SECTION || type == STT_FILE || name[0] == '\0' ||
        !br2_elf_symbol_address(&image->elf, symbol, &ret->address)) {
        return false;
    }
    ret->name = name;
    ret->size = symbol->st_size;
    ret->local = GELF_ST_BIND(symbol->st_info) == STB_LOCAL;
    ret->function = (type == STT_FUNC || type == STT_GNU_IFUNC) &&
                    br2_image_area_at(image, ret->address) != NULL;
    return true;
}

static int collect(const struct br2_image *image, struct entries *entries, struct br2pgo_error *err)
{
    struct br2_elf_symbols symbols;
    if (!br2_elf_symbols(&image->elf, SHT_SYMTAB, &symbols)) {
        return 0;
    }
    for (size_t i = 1; i < symbols.count; i++) {
        GElf_Sym symbol;
        const char *name;
        struct entry entry = {.index = i};
        if (!br2_elf_symbol(&symbols, i, &symbol, &name) || !take(image, &symbol, name, &entry) ||
            !br2_elf_take(&entries->room, strlen(name))) {
            continue;
        }
        if (!br2_grow(&entries->items, &entries->capacity, entries->count, sizeof entry)) {
            return br2_fail_memory(err);
        }
        entries->items[entries->count++] = entry;
    }
    return 0;
}

/* By address, functions before what else is there, then in the order of the table. */
static int compare(const void *left, const void *right)
{
    const struct entry *a = left;
    const struct entry *b = right;
    if (a->address != b->address) {
        return a->address < b->address ? -1 : 1;
    }
    if (a->function != b->function) {
        return a->function ? -1 : 1;
    }
    return a->index < b->index ? -1 : a->index > b->index;
}

/* How many local symbols of the name came before this one, and this one. */
static int number_local(struct br2_strings *names, uint32_t **counts, size_t *capacity,
                        const char *name, uint32_t *ret, struct br2pgo_error *err)
{
    size_t known = names->count;
    uint32_t number = br2_strings_add(names, name, strlen(name));
    if (number == BR2_NO_STRING || !br2_grow(counts, capacity, number, sizeof **counts)) {
        return br2_fail_memory(err);
    }
    if (number == known) {
        (*counts)[number] = 0;
    }
    *ret = ++(*counts)[number];
    return 0;
}

static int number_all(const struct entries *entries, struct br2_symbol_names *ret,
                      struct br2pgo_error *err)
{
    struct br2_strings names = {0};
    uint32_t *counts = NULL;
    size_t capacity = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < entries->count; i++) {
        const struct entry *entry = &entries->items[i];
        uint32_t local = 0;
        if (entry->local) {
            rc = number_local(&names, &counts, &capacity, entry->name, &local, err);
        }
        if (rc == 0 && entry->function) {
            ret->items[ret->count++] = (struct br2_symbol_name){
                .address = entry->address,
                .size = entry->size,
                .name = entry->name,
                .local = local,
            };
        }
    }
    br2_free(counts);
    br2_strings_done(&names);
    return rc;
}

int br2_symbol_names_read(const struct br2_image *image, struct br2_symbol_names *ret,
                          struct br2pgo_error *err)
{
    struct entries entries = {.room = br2_elf_room(&image->elf)};
    *ret = (struct br2_symbol_names){0};
    int rc = collect(image, &entries, err);
    if (rc == 0 && entries.count != 0) {
        qsort(entries.items, entries.count, sizeof *entries.items, compare);
        ret->items = br2_calloc(entries.count, sizeof *ret->items);
        rc = ret->items != NULL ? number_all(&entries, ret, err) : br2_fail_memory(err);
    }
    br2_free(entries.items);
    if (rc != 0) {
        br2_symbol_names_done(ret);
    }
    return rc;
}

void br2_symbol_names_done(struct br2_symbol_names *names)
{
    br2_free(names->items);
    *names = (struct br2_symbol_names){0};
}

size_t br2_symbol_names_from(const struct br2_symbol_names *names, uint64_t address)
{
    size_t low = 0;
    size_t high = names->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (names->items[middle].address < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct br2_symbol_name *br2_symbol_names_at(const struct br2_symbol_names *names,
                                                  uint64_t address)
{
    size_t at = br2_symbol_names_from(names, address);
    return at < names->count && names->items[at].address == address ? &names->items[at] : NULL;
}
