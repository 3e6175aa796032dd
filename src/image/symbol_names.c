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
    const char *file; /* NULL: not known */
    size_t index;     /* in the symbol table */
    bool function;
    bool local;
};

struct entries {
    struct entry *items; /* owned */
    size_t count;
    size_t capacity;
    size_t room; /* for names */
};

/* AArch64's and RISC-V's marks of where code and data begin ($x, $d) are no labels; nor are the
 * compiler's own (.L), which only RISC-V's assemblers leave in. */
static bool is_label(const struct br2_image *image, const GElf_Sym *symbol,
                     const struct entry *entry)
{
    bool own = entry->name[0] == '$' || strncmp(entry->name, ".L", 2) == 0;
    return !own && GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE && symbol->st_size == 0 &&
           br2_image_area_at(image, entry->address) != NULL;
}

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

static int collect(const struct br2_image *image, struct entries *entries,
                   struct br2_addresses *labels, struct br2pgo_error *err)
{
    struct br2_elf_symbols symbols;
    if (!br2_elf_symbols(&image->elf, SHT_SYMTAB, &symbols)) {
        return 0;
    }
    const char *file = NULL;
    for (size_t i = 1; i < symbols.count; i++) {
        GElf_Sym symbol;
        const char *name;
        struct entry entry = {.index = i};
        bool named = br2_elf_symbol(&symbols, i, &symbol, &name);
        if (named && GELF_ST_TYPE(symbol.st_info) == STT_FILE) {
            file = name[0] != '\0' && br2_elf_take(&entries->room, strlen(name)) ? name : NULL;
        }
        if (!named || !take(image, &symbol, name, &entry) ||
            !br2_elf_take(&entries->room, strlen(name))) {
            continue;
        }
        entry.file = entry.local ? file : NULL;
        bool label = is_label(image, &symbol, &entry);
        if ((label && !br2_addresses_add(labels, entry.address)) ||
            !br2_grow(&entries->items, &entries->capacity, entries->count, sizeof entry)) {
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

/* Counts how often each text was there. */
struct tally {
    struct br2_strings texts;
    uint32_t *counts; /* owned; per text */
    size_t capacity;
};

static void tally_done(struct tally *tally)
{
    br2_free(tally->counts);
    br2_strings_done(&tally->texts);
}

/* `ret`: number of the text. */
static bool tally_add(struct tally *tally, const void *text, size_t length, uint32_t *ret)
{
    size_t known = tally->texts.count;
    *ret = br2_strings_add(&tally->texts, text, length);
    if (*ret == BR2_NO_STRING ||
        !br2_grow(&tally->counts, &tally->capacity, *ret, sizeof *tally->counts)) {
        return false;
    }
    if (*ret == known) {
        tally->counts[*ret] = 0;
    }
    tally->counts[*ret]++;
    return true;
}

struct numbering {
    struct tally names;
    struct tally pairs;     /* of a name's number and a file's */
    struct tally files;     /* one of no name among them */
    uint32_t *pair_of_item; /* owned; per function symbol; BR2_NO_STRING: not local */
};

static void numbering_done(struct numbering *numbering)
{
    tally_done(&numbering->names);
    tally_done(&numbering->pairs);
    tally_done(&numbering->files);
    br2_free(numbering->pair_of_item);
}

/* `ret`: how many local symbols of the name came before this one, and this one; `ret_pair`: its
 * name and file. */
static bool number_local(struct numbering *numbering, const struct entry *entry, uint32_t *ret,
                         uint32_t *ret_pair)
{
    uint32_t pair[2];
    const char *file = entry->file != NULL ? entry->file : "";
    bool ok = tally_add(&numbering->names, entry->name, strlen(entry->name), &pair[0]) &&
              tally_add(&numbering->files, file, strlen(file), &pair[1]) &&
              tally_add(&numbering->pairs, pair, sizeof pair, ret_pair);
    *ret = ok ? numbering->names.counts[pair[0]] : 0;
    return ok;
}

static bool number_all(const struct entries *entries, struct numbering *numbering,
                       struct br2_symbol_names *ret)
{
    bool ok = true;
    for (size_t i = 0; ok && i < entries->count; i++) {
        const struct entry *entry = &entries->items[i];
        uint32_t local = 0;
        uint32_t pair = BR2_NO_STRING;
        ok = !entry->local || number_local(numbering, entry, &local, &pair);
        if (ok && entry->function) {
            numbering->pair_of_item[ret->count] = pair;
            ret->items[ret->count++] = (struct br2_symbol_name){
                .address = entry->address,
                .size = entry->size,
                .name = entry->name,
                .local = local,
                .file = entry->file,
            };
        }
    }
    const uint32_t *counts = numbering->pairs.counts; /* NULL: nothing is local */
    for (size_t i = 0; ok && i < ret->count; i++) {
        uint32_t pair = numbering->pair_of_item[i];
        ret->items[i].alone = counts == NULL || pair == BR2_NO_STRING || counts[pair] == 1;
    }
    return ok;
}

static int name_all(const struct entries *entries, struct br2_symbol_names *ret,
                    struct br2pgo_error *err)
{
    struct numbering numbering = {0};
    ret->items = br2_calloc(entries->count, sizeof *ret->items);
    numbering.pair_of_item = br2_calloc(entries->count, sizeof *numbering.pair_of_item);
    bool ok = ret->items != NULL && numbering.pair_of_item != NULL &&
              number_all(entries, &numbering, ret);
    numbering_done(&numbering);
    return ok ? 0 : br2_fail_memory(err);
}

int br2_symbol_names_read(const struct br2_image *image, struct br2_symbol_names *ret,
                          struct br2pgo_error *err)
{
    struct entries entries = {.room = br2_elf_room(&image->elf)};
    *ret = (struct br2_symbol_names){0};
    int rc = collect(image, &entries, &ret->labels, err);
    br2_addresses_sort(&ret->labels);
    if (rc == 0 && entries.count != 0) {
        qsort(entries.items, entries.count, sizeof *entries.items, compare);
        rc = name_all(&entries, ret, err);
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
    br2_addresses_done(&names->labels);
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
