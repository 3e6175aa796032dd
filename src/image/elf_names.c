/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An index of the names of defined symbols. */
#include <stdlib.h>
#include <string.h>

#include "image/elf_file.h"

/* By length, then by bytes: what is compared then is long only where the string table is. */
static int compare(const void *a, const void *b)
{
    const struct br2_elf_name *x = a;
    const struct br2_elf_name *y = b;
    if (x->length != y->length) {
        return x->length < y->length ? -1 : 1;
    }
    return x->text == y->text ? 0 : memcmp(x->text, y->text, x->length);
}

static int add_table(const struct br2_elf *elf, uint32_t type, struct br2_elf_names *names,
                     struct br2pgo_error *err)
{
    struct br2_elf_symbols symbols;
    if (!br2_elf_symbols(elf, type, &symbols)) {
        return 0;
    }
    for (size_t i = 1; i < symbols.count; i++) {
        GElf_Sym symbol;
        const char *name;
        if (!br2_elf_symbol(&symbols, i, &symbol, &name) || symbol.st_shndx == SHN_UNDEF) {
            continue;
        }
        if (!br2_grow(&names->items, &names->capacity, names->count, sizeof *names->items)) {
            return br2_fail_memory(err);
        }
        names->items[names->count++] = (struct br2_elf_name){name, strlen(name)};
    }
    return 0;
}

int br2_elf_names_read(const struct br2_elf *elf, struct br2_elf_names *names,
                       struct br2pgo_error *err)
{
    int status = add_table(elf, SHT_SYMTAB, names, err);
    if (status == 0) {
        status = add_table(elf, SHT_DYNSYM, names, err);
    }
    if (status != 0) {
        br2_elf_names_done(names);
        return status;
    }
    if (names->count > 0) {
        qsort(names->items, names->count, sizeof *names->items, compare);
    }
    names->ready = true;
    return 0;
}

bool br2_elf_names_have(const struct br2_elf_names *names, const char *text)
{
    struct br2_elf_name key = {text, strlen(text)};
    return names->count > 0 &&
           bsearch(&key, names->items, names->count, sizeof key, compare) != NULL;
}

void br2_elf_names_done(struct br2_elf_names *names)
{
    br2_free(names->items);
    *names = (struct br2_elf_names){0};
}
