/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where the fields of a sample are. Their order is that of the comment at PERF_RECORD_SAMPLE in
 * linux/perf_event.h; only READ, CALLCHAIN and RAW vary in size before the branch stack.
 */
#include "input/perf_data/perf_data.h"

#define READ_ENABLED (UINT64_C(1) << 0)
#define READ_RUNNING (UINT64_C(1) << 1)
#define READ_ID      (UINT64_C(1) << 2)
#define READ_GROUP   (UINT64_C(1) << 3)
#define READ_LOST    (UINT64_C(1) << 4)

/* Every field after the branch stack whose size is in the sample. */
#define TAIL_VARYING                                                                               \
    (BR2_SAMPLE_REGS_USER | BR2_SAMPLE_STACK_USER | BR2_SAMPLE_REGS_INTR | BR2_SAMPLE_AUX)
/* Those of one u64; WEIGHT and WEIGHT_STRUCT share theirs. */
#define TAIL_WORDS                                                                                 \
    (BR2_SAMPLE_DATA_SRC | BR2_SAMPLE_TRANSACTION | BR2_SAMPLE_PHYS_ADDR | BR2_SAMPLE_CGROUP |     \
     BR2_SAMPLE_DATA_PAGE_SIZE | BR2_SAMPLE_CODE_PAGE_SIZE)

static uint16_t place(uint64_t sample_type, uint64_t bit, uint16_t *at)
{
    if (!(sample_type & bit)) {
        return BR2_PERF_ABSENT;
    }
    uint16_t here = *at;
    *at = (uint16_t)(here + 8);
    return here;
}

static void lay_prefix(struct br2_perf_layout *layout, uint64_t type)
{
    uint16_t at = 0;
    uint16_t identifier = place(type, BR2_SAMPLE_IDENTIFIER, &at);
    layout->ip = place(type, BR2_SAMPLE_IP, &at);
    layout->tid = place(type, BR2_SAMPLE_TID, &at);
    layout->time = place(type, BR2_SAMPLE_TIME, &at);
    place(type, BR2_SAMPLE_ADDR, &at);
    uint16_t id = place(type, BR2_SAMPLE_ID, &at);
    layout->id = identifier != BR2_PERF_ABSENT ? identifier : id;
    place(type, BR2_SAMPLE_STREAM_ID, &at);
    layout->cpu = place(type, BR2_SAMPLE_CPU, &at);
    layout->period = place(type, BR2_SAMPLE_PERIOD, &at);
    layout->prefix = at;
}

static unsigned bits(uint64_t value)
{
    return (unsigned)__builtin_popcountll(value);
}

static void lay_read(struct br2_perf_layout *layout, uint64_t format)
{
    unsigned counter = 1 + bits(format & (READ_ID | READ_LOST));
    unsigned times = bits(format & (READ_ENABLED | READ_RUNNING));
    layout->read_group = format & READ_GROUP;
    if (layout->read_group) {
        layout->read_base = (uint16_t)(8 * (1 + times)); /* the number of counters first */
        layout->read_entry = (uint16_t)(8 * counter);
    } else {
        layout->read_base = (uint16_t)(8 * (counter + times));
    }
}

/* TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER, seen from the end. */
static void lay_trailer(struct br2_perf_layout *layout, uint64_t type)
{
    unsigned after_id =
        bits(type & (BR2_SAMPLE_STREAM_ID | BR2_SAMPLE_CPU | BR2_SAMPLE_IDENTIFIER));
    unsigned after_time = after_id + bits(type & BR2_SAMPLE_ID);
    unsigned after_tid = after_time + bits(type & BR2_SAMPLE_TIME);
    layout->trailer_size = (uint16_t)(8 * (after_tid + bits(type & BR2_SAMPLE_TID)));
    if (type & BR2_SAMPLE_TIME) {
        layout->trailer_time = (uint16_t)(8 * (after_time + 1));
    }
    if (type & BR2_SAMPLE_IDENTIFIER) {
        layout->trailer_id = 8;
    } else if (type & BR2_SAMPLE_ID) {
        layout->trailer_id = (uint16_t)(8 * (after_id + 1));
    }
    if (type & BR2_SAMPLE_TID) {
        layout->trailer_tid = layout->trailer_size;
    }
    if (type & BR2_SAMPLE_CPU) {
        layout->trailer_cpu = (uint16_t)(8 * bits(type & (BR2_SAMPLE_CPU | BR2_SAMPLE_IDENTIFIER)));
    }
}

/* Where the branch stack alone varies in size, everything has its place. */
static void lay_stack(struct br2_perf_layout *layout)
{
    bool varies = layout->read_group || layout->callchain || layout->raw || layout->tail_varies ||
                  layout->tail_unknown;
    layout->stack = BR2_PERF_ABSENT;
    if (!varies) {
        layout->stack = (uint16_t)(layout->prefix + layout->read_base);
        layout->records = (uint16_t)(layout->stack + (layout->hw_index ? 16 : 8));
        layout->around = (uint16_t)(layout->records + layout->tail_size);
    }
}

void br2_perf_layout_make(struct br2_perf_layout *layout, const struct br2_perf_attr *attr)
{
    uint64_t type = attr->sample_type;
    *layout = (struct br2_perf_layout){0};
    lay_prefix(layout, type);
    if (type & BR2_SAMPLE_READ) {
        lay_read(layout, attr->read_format);
    }
    layout->callchain = type & BR2_SAMPLE_CALLCHAIN;
    layout->raw = type & BR2_SAMPLE_RAW;
    layout->hw_index = attr->branch_sample_type & BR2_BRANCH_HW_INDEX;
    layout->counters = attr->branch_sample_type & BR2_BRANCH_COUNTERS;
    layout->tail_varies = type & TAIL_VARYING;
    layout->tail_unknown = type & ~BR2_SAMPLE_KNOWN;
    unsigned words = bits(type & TAIL_WORDS);
    if (type & (BR2_SAMPLE_WEIGHT | BR2_SAMPLE_WEIGHT_STRUCT)) {
        words++;
    }
    layout->tail_size = (uint16_t)(8 * words);
    lay_stack(layout);
    if (attr->flags & BR2_ATTR_SAMPLE_ID_ALL) {
        lay_trailer(layout, type);
    }
}

/* A sample's body and how far it has been understood. */
struct body {
    const struct br2_perf *perf;
    const uint8_t *bytes;
    size_t size;
    size_t at;
};

static bool skip(struct body *b, uint64_t size)
{
    if (size > b->size - b->at) {
        return false;
    }
    b->at += (size_t)size;
    return true;
}

static bool take_u64(struct body *b, uint64_t *ret)
{
    if (b->size - b->at < 8) {
        return false;
    }
    *ret = br2_perf_u64(b->perf, b->bytes + b->at);
    b->at += 8;
    return true;
}

/* A u64 number, `more` bytes, then that many elements of `element` bytes. */
static bool skip_counted(struct body *b, size_t more, size_t element)
{
    uint64_t count;
    if (!take_u64(b, &count) || !skip(b, more)) {
        return false;
    }
    return count <= (b->size - b->at) / element && skip(b, count * element);
}

static bool skip_to_stack(struct body *b, const struct br2_perf_layout *layout)
{
    if (!skip(b, layout->prefix)) {
        return false;
    }
    if (layout->read_group) {
        if (!skip_counted(b, layout->read_base - 8u, layout->read_entry)) {
            return false;
        }
    } else if (!skip(b, layout->read_base)) {
        return false;
    }
    if (layout->callchain && !skip_counted(b, 0, 8)) {
        return false;
    }
    if (layout->raw) {
        if (b->size - b->at < 4) {
            return false;
        }
        return skip(b, 4 + (uint64_t)br2_perf_u32(b->perf, b->bytes + b->at));
    }
    return true;
}

/* REGS_USER and REGS_INTR: the ABI, and registers unless it is 0. */
static bool skip_registers(struct body *b, uint64_t mask)
{
    uint64_t abi;
    if (!take_u64(b, &abi)) {
        return false;
    }
    return abi == 0 || skip(b, 8u * bits(mask));
}

/* STACK_USER has the size that was really used behind its bytes, if there are any. */
static bool skip_user_stack(struct body *b)
{
    uint64_t size;
    if (!take_u64(b, &size)) {
        return false;
    }
    return size == 0 || (skip(b, size) && skip(b, 8));
}

/* Steps over the fields after the branch stack. CODE_PAGE_SIZE comes before AUX, whatever the
 * order of their bits. */
static bool skip_tail(struct body *b, const struct br2_perf_attr *attr)
{
    uint64_t type = attr->sample_type;
    unsigned words = bits(type & (BR2_SAMPLE_DATA_SRC | BR2_SAMPLE_TRANSACTION));
    if (type & (BR2_SAMPLE_WEIGHT | BR2_SAMPLE_WEIGHT_STRUCT)) {
        words++;
    }
    if ((type & BR2_SAMPLE_REGS_USER) && !skip_registers(b, attr->regs_user)) {
        return false;
    }
    if ((type & BR2_SAMPLE_STACK_USER) && !skip_user_stack(b)) {
        return false;
    }
    if (!skip(b, 8u * words)) {
        return false;
    }
    if ((type & BR2_SAMPLE_REGS_INTR) && !skip_registers(b, attr->regs_intr)) {
        return false;
    }
    if (!skip(b, attr->layout.tail_size - 8u * words)) {
        return false;
    }
    return !(type & BR2_SAMPLE_AUX) || skip_counted(b, 0, 1);
}

/* Whether the fields after the branch stack end where the sample ends. */
static bool tail_fits(struct body b, const struct br2_perf_attr *attr)
{
    if (attr->layout.tail_unknown) {
        return true;
    }
    if (!attr->layout.tail_varies) {
        return b.size - b.at == attr->layout.tail_size;
    }
    return skip_tail(&b, attr) && b.at == b.size;
}

/* One reading of the branch stack that `b` stands on; true when the sample comes out whole. */
static bool try_stack(struct body b, const struct br2_perf_attr *attr, bool hw_index, bool counters,
                      const uint8_t **ret_records, size_t *ret_count)
{
    uint64_t count;
    if (!take_u64(&b, &count) || (hw_index && !skip(&b, 8))) {
        return false;
    }
    size_t record = counters ? 32 : 24; /* the counters stand behind all records */
    if (count > (b.size - b.at) / record) {
        return false;
    }
    const uint8_t *records = b.bytes + b.at;
    if (!skip(&b, count * record) || !tail_fits(b, attr)) {
        return false;
    }
    *ret_records = records;
    *ret_count = (size_t)count;
    return true;
}

bool br2_perf_search_records(const struct br2_perf *perf, const struct br2_perf_attr *attr,
                             const struct br2_perf_record *record, const uint8_t **ret_records,
                             size_t *ret_count)
{
    const struct br2_perf_layout *layout = &attr->layout;
    struct body b = {perf, record->body, record->size, 0};
    if (!skip_to_stack(&b, layout)) {
        return false;
    }
    bool hw = layout->hw_index;
    bool counters = layout->counters;
    if (try_stack(b, attr, hw, counters, ret_records, ret_count)) {
        return true;
    }
    /* The kernel leaves the hw_idx word out of an empty stack, and tools that rewrite recordings
     * (perf inject) leave branch_sample_type wrong. */
    return try_stack(b, attr, !hw, counters, ret_records, ret_count) ||
           try_stack(b, attr, hw, !counters, ret_records, ret_count) ||
           try_stack(b, attr, !hw, !counters, ret_records, ret_count);
}
