/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/etm_tree.h"

#include <opencsd/c_api/opencsd_c_api.h>
#include <pthread.h>
#include <string.h>

#define FRAME           16u
#define CHUNK           256u                /* bytes given to the decoder at once */
#define LEAP            256u                /* behind what it cannot make out */
#define RAW_ID          0x10                /* where the hardware has none: there is but one */
#define RUN_BYTES_MAX   (UINT64_C(1) << 18) /* of code without a branch */
#define CONFIGR_CID     (UINT32_C(1) << 6)  /* context ids are traced: numbers of threads */
#define CONFIGR_VMID    (UINT32_C(1) << 7)
#define CONFIGR_VMIDOPT (UINT32_C(1) << 15) /* of a kernel at EL2: the VMID is such an id */

/* OpenCSD keeps lists of its trees and their parts for all threads, without a lock. Decoding shares
 * nothing but the log of errors, which is off. */
static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;

void br2_etm_tree_begin(struct br2_etm_tree *tree, struct br2_etm_units *units)
{
    *tree = (struct br2_etm_tree){.self = {tree}, .units = units};
}

static uint64_t skipped_by(const struct br2_etm_tree *tree, uint8_t id, uint64_t *ret_unassigned)
{
    ocsd_decode_stats_t *stats = NULL;
    if (id == 0 || ocsd_dt_get_decode_stats(tree->handle, id, &stats) != OCSD_OK) {
        return 0;
    }
    *ret_unassigned = stats->demux.unknown_id_bytes + stats->demux.no_id_bytes;
    return stats->channel_unsynced;
}

static void close_tree(struct br2_etm_tree *tree)
{
    uint64_t unassigned = 0;
    uint64_t skipped = 0;
    pthread_mutex_lock(&lists);
    if (tree->handle != NULL && tree->raw != NULL) {
        skipped = skipped_by(tree, tree->raw->id != 0 ? tree->raw->id : RAW_ID, &unassigned);
    }
    for (size_t i = 0; tree->handle != NULL && tree->raw == NULL && i < tree->info->count; i++) {
        skipped += skipped_by(tree, tree->info->units[i].id, &unassigned);
    }
    if (tree->handle != NULL) {
        ocsd_destroy_dcd_tree(tree->handle);
    }
    if (tree->scan != NULL) {
        ocsd_destroy_dcd_tree(tree->scan);
    }
    pthread_mutex_unlock(&lists);
    tree->units->stats->skipped += skipped + unassigned;
    tree->handle = tree->scan = NULL;
}

void br2_etm_tree_done(struct br2_etm_tree *tree)
{
    close_tree(tree);
}

static int lose(struct br2_etm_tree *tree, struct br2_etm_core *core, enum br2_trace_loss loss)
{
    tree->units->stats->losses[loss]++;
    return br2_trace_walk_lose(&core->walk, tree->err);
}

/* The thread goes on where nothing is traced, or not to be told. If it comes back to where it left,
 * nothing but the kernel was in between, unless it had just branched away. */
static int pause(struct br2_etm_tree *tree, struct br2_etm_core *core)
{
    if (core->walk.stopped || !core->walk.runs) {
        return 0;
    }
    return core->branched ? br2_trace_walk_lose(&core->walk, tree->err)
                          : br2_trace_walk_stop(&core->walk, 0, tree->err);
}

static int take_exception(struct br2_etm_tree *tree, struct br2_etm_core *core,
                          const ocsd_generic_trace_elem *element)
{
    if (core->privileged || core->walk.stopped) {
        return 0;
    }
    return element->excep_ret_addr ? br2_trace_walk_stop(&core->walk, element->en_addr, tree->err)
                                   : pause(tree, core);
}

static uint32_t read_code(const void *context, const ocsd_vaddr_t address,
                          const ocsd_mem_space_acc_t space, const uint8_t id, const uint32_t size,
                          uint8_t *buffer)
{
    struct br2_etm_tree *tree = ((const struct br2_etm_link *)context)->tree;
    struct br2_etm_core *core = tree->units->cores[id % BR2_ETM_IDS];
    (void)space;
    if (core == NULL || core->privileged || !core->known || core->read > RUN_BYTES_MAX) {
        return 0;
    }
    core->read += size;
    const struct br2_trace_section *section = br2_trace_walk_section(&core->walk, address);
    if (section == NULL) {
        return 0;
    }
    uint64_t left = section->end - address;
    uint32_t length = size < left ? size : (uint32_t)left;
    memcpy(buffer, section->bytes + (address - section->start), length);
    return length;
}

static bool add_code(struct br2_etm_tree *tree)
{
    return ocsd_dt_add_callback_trcid_mem_acc(tree->handle, 0, UINT64_MAX, OCSD_MEM_SPACE_ANY,
                                              read_code, &tree->self) == OCSD_OK;
}

/* What OpenCSD keeps of the code is another address space's. */
static int forget_code(struct br2_etm_tree *tree)
{
    pthread_mutex_lock(&lists);
    ocsd_dt_remove_mem_acc(tree->handle, 0, OCSD_MEM_SPACE_ANY);
    bool added = add_code(tree);
    pthread_mutex_unlock(&lists);
    return added ? 0 : br2_fail_memory(tree->err);
}

static const struct br2_etm_unit *unit_with(const struct br2_etm_tree *tree, uint8_t id)
{
    for (size_t i = 0; tree->raw == NULL && i < tree->info->count; i++) {
        if (tree->info->units[i].id == id) {
            return &tree->info->units[i];
        }
    }
    return tree->raw;
}

static int take_context(struct br2_etm_tree *tree, struct br2_etm_core *core, uint8_t id,
                        const ocsd_pe_context *context)
{
    core->privileged = context->el_valid && context->exception_level > ocsd_EL0;
    if (core->privileged) {
        return 0;
    }
    const struct br2_etm_unit *unit = unit_with(tree, id);
    uint32_t configr = unit != NULL ? unit->configr : 0;
    uint32_t thread = 0;
    if ((configr & CONFIGR_VMID) != 0 && (configr & CONFIGR_VMIDOPT) != 0) {
        thread = context->vmid_valid ? context->vmid : 0;
    } else if ((configr & CONFIGR_CID) != 0) {
        thread = context->ctxt_id_valid ? context->context_id : 0;
    }
    uint32_t before = core->walk.view;
    int rc = br2_etm_units_thread(tree->units, core, (int32_t)thread, tree->err);
    return rc != 0 || before == core->walk.view ? rc : forget_code(tree);
}

static int take_range(struct br2_etm_tree *tree, struct br2_etm_core *core,
                      const ocsd_generic_trace_elem *element)
{
    uint64_t first = element->st_addr;
    int rc = 0;
    core->read = 0;
    if (core->privileged) {
        return 0;
    }
    if (element->isa != ocsd_isa_aarch64 || element->en_addr < first ||
        element->en_addr - first < 4) {
        return lose(tree, core, BR2_TRACE_NO_CODE);
    }
    if (core->walk.stopped || !core->walk.runs) {
        rc = br2_trace_walk_resume(&core->walk, first, tree->err);
    }
    core->branched = element->last_instr_exec && (element->last_i_type == OCSD_INSTR_BR ||
                                                  element->last_i_type == OCSD_INSTR_BR_INDIRECT);
    return rc != 0 ? rc : br2_trace_walk_block(&core->walk, first, element->en_addr - 4, tree->err);
}

static int take_missing(struct br2_etm_tree *tree, struct br2_etm_core *core, uint64_t address)
{
    struct br2_trace_stats *stats = tree->units->stats;
    bool endless = core->read > RUN_BYTES_MAX;
    core->read = 0;
    if (core->privileged) {
        return 0;
    }
    if (!core->known) {
        return lose(tree, core, BR2_TRACE_NO_THREAD);
    }
    if (endless) {
        return lose(tree, core, BR2_TRACE_MISMATCH);
    }
    if (stats->no_code_at == 0) {
        stats->no_code_at = address;
        stats->no_code_view = core->walk.view;
    }
    return lose(tree, core, BR2_TRACE_NO_CODE);
}

static int take_desync(struct br2_etm_tree *tree, struct br2_etm_core *core, unsync_info_t reason)
{
    switch (reason) {
    case UNSYNC_BAD_PACKET:
        return lose(tree, core, BR2_TRACE_CORRUPT);
    case UNSYNC_OVERFLOW:
        return br2_trace_walk_lose(&core->walk, tree->err);
    default:
        return 0;
    }
}

static int take(struct br2_etm_tree *tree, struct br2_etm_core *core, uint8_t id,
                const ocsd_generic_trace_elem *element)
{
    switch (element->elem_type) {
    case OCSD_GEN_TRC_ELEM_NO_SYNC:
        return take_desync(tree, core, element->unsync_eot_info);
    case OCSD_GEN_TRC_ELEM_TRACE_ON:
        return element->trace_on_reason == TRACE_ON_OVERFLOW ? lose(tree, core, BR2_TRACE_OVERFLOW)
                                                             : pause(tree, core);
    case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
        return take_context(tree, core, id, &element->context);
    case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
        return take_range(tree, core, element);
    case OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH:
        return core->privileged ? 0 : lose(tree, core, BR2_TRACE_GAP);
    case OCSD_GEN_TRC_ELEM_ADDR_NACC:
        return take_missing(tree, core, element->st_addr);
    case OCSD_GEN_TRC_ELEM_ADDR_UNKNOWN:
        return core->privileged ? 0 : pause(tree, core);
    case OCSD_GEN_TRC_ELEM_EXCEPTION:
        return take_exception(tree, core, element);
    default:
        return 0;
    }
}

static ocsd_datapath_resp_t take_element(const void *context, const ocsd_trc_index_t index,
                                         const uint8_t id, const ocsd_generic_trace_elem *element)
{
    struct br2_etm_tree *tree = ((const struct br2_etm_link *)context)->tree;
    struct br2_etm_core *core = NULL;
    (void)index;
    if (tree->rc == 0) {
        tree->rc = br2_etm_units_core(tree->units, id, &core, tree->err);
    }
    if (tree->rc == 0) {
        tree->rc = take(tree, core, id, element);
    }
    return tree->rc == 0 ? OCSD_RESP_CONT : OCSD_RESP_FATAL_SYS_ERR;
}

/* OpenCSD 1.3.3 goes astray in a list when a branch turns out to be mispredicted behind an address.
 * Units that do not speculate (MAXSPEC 0) never say so; where another one does, evidence ends. */
static ocsd_datapath_resp_t look_at_packet(const void *context, const ocsd_datapath_op_t what,
                                           const ocsd_trc_index_t index, const void *content)
{
    const ocsd_etmv4_i_pkt *packet = content;
    (void)context;
    (void)index;
    if (what != OCSD_OP_DATA || packet == NULL) {
        return OCSD_RESP_CONT;
    }
    switch (packet->type) {
    case ETM4_PKT_I_MISPREDICT:
    case ETM4_PKT_I_CANCEL_F1_MISPRED:
    case ETM4_PKT_I_CANCEL_F2:
    case ETM4_PKT_I_CANCEL_F3:
        return OCSD_RESP_FATAL_INVALID_DATA;
    default:
        return OCSD_RESP_CONT;
    }
}

static bool add_decoder(struct br2_etm_tree *tree, const char *name, const void *config)
{
    unsigned char id;
    int flags = OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS;
    return ocsd_dt_create_decoder(tree->scan, name, OCSD_CREATE_FLG_PACKET_PROC | flags, config,
                                  &id) == OCSD_OK &&
           ocsd_dt_attach_packet_callback(tree->scan, id, OCSD_C_API_CB_PKT_SINK, look_at_packet,
                                          &tree->self) == OCSD_OK &&
           ocsd_dt_create_decoder(tree->handle, name, OCSD_CREATE_FLG_FULL_DECODER | flags, config,
                                  &id) == OCSD_OK;
}

static bool add_unit(struct br2_etm_tree *tree, const struct br2_etm_unit *unit, uint8_t id)
{
    ocsd_etmv4_cfg etm = {
        .reg_idr0 = unit->idr0,
        .reg_idr1 = unit->idr1,
        .reg_idr2 = unit->idr2,
        .reg_idr8 = unit->idr8,
        .reg_configr = unit->configr,
        .reg_traceidr = id,
        .arch_ver = ARCH_V8,
        .core_prof = profile_CortexA,
    };
    ocsd_ete_cfg ete = {
        .reg_idr0 = unit->idr0,
        .reg_idr1 = unit->idr1,
        .reg_idr2 = unit->idr2,
        .reg_idr8 = unit->idr8,
        .reg_devarch = unit->devarch,
        .reg_configr = unit->configr,
        .reg_traceidr = id,
        .arch_ver = ARCH_AA64,
        .core_prof = profile_CortexA,
    };
    return unit->ete ? add_decoder(tree, OCSD_BUILTIN_DCD_ETE, &ete)
                     : add_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, &etm);
}

static void *make_tree(bool raw)
{
    return raw ? ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0)
               : ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED,
                                      OCSD_DFRMTR_FRAME_MEM_ALIGN | OCSD_DFRMTR_RESET_ON_4X_FSYNC);
}

/* A unit that OpenCSD cannot do with is left out: its bytes are counted as skipped. */
static bool fill_tree(struct br2_etm_tree *tree)
{
    ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
    tree->handle = make_tree(tree->raw != NULL);
    tree->scan = make_tree(tree->raw != NULL);
    if (tree->handle == NULL || tree->scan == NULL) {
        return false;
    }
    if (tree->raw != NULL) {
        add_unit(tree, tree->raw, tree->raw->id != 0 ? tree->raw->id : RAW_ID);
    }
    for (size_t i = 0; tree->raw == NULL && i < tree->info->count; i++) {
        const struct br2_etm_unit *unit = &tree->info->units[i];
        if (unit->id != 0) {
            add_unit(tree, unit, unit->id);
        }
    }
    return ocsd_dt_set_gen_elem_outfn(tree->handle, take_element, &tree->self) == OCSD_OK &&
           add_code(tree);
}

int br2_etm_tree_use(struct br2_etm_tree *tree, const struct br2_etm_info *info,
                     const struct br2_etm_unit *raw, struct br2pgo_error *err)
{
    if (tree->handle != NULL && tree->info == info && tree->raw == raw) {
        return 0;
    }
    close_tree(tree);
    tree->info = info;
    tree->raw = raw;
    pthread_mutex_lock(&lists);
    bool made = fill_tree(tree);
    pthread_mutex_unlock(&lists);
    return made ? 0 : br2_fail_memory(err);
}

static void tell(void *handle, ocsd_datapath_op_t what)
{
    uint32_t used = 0;
    ocsd_dt_process_data(handle, what, 0, 0, NULL, &used);
}

static void reset(struct br2_etm_tree *tree)
{
    tell(tree->handle, OCSD_OP_RESET);
    tell(tree->scan, OCSD_OP_RESET);
}

/* Behind bytes that OpenCSD gave up at: begins anew somewhat behind them. */
static uint64_t leap(struct br2_etm_tree *tree, uint64_t done, uint64_t size)
{
    uint64_t next = (done / LEAP + 1) * LEAP;
    next = next < size ? next : size;
    tree->units->stats->skipped += next - done;
    tree->rc = br2_etm_units_lose(tree->units, BR2_TRACE_CORRUPT, tree->err);
    reset(tree);
    return next;
}

/* Decodes some bytes; false: it came to an end before them, at `*ret_used`. */
static bool decode_some(struct br2_etm_tree *tree, uint64_t at, const uint8_t *bytes, uint32_t size,
                        uint32_t *ret_used)
{
    uint32_t used = 0;
    ocsd_trc_index_t index = (ocsd_trc_index_t)at;
    *ret_used = 0;
    ocsd_datapath_resp_t response =
        ocsd_dt_process_data(tree->scan, OCSD_OP_DATA, index, size, bytes, &used);
    bool whole = !OCSD_DATA_RESP_IS_FATAL(response) && used == size;
    if (!whole) { /* a packet may have begun in bytes before these */
        return false;
    }
    response = ocsd_dt_process_data(tree->handle, OCSD_OP_DATA, index, size, bytes, &used);
    *ret_used = used < size ? used : size;
    return !OCSD_DATA_RESP_IS_FATAL(response) && used == size;
}

int br2_etm_tree_decode(struct br2_etm_tree *tree, const uint8_t *bytes, uint64_t size,
                        struct br2pgo_error *err)
{
    uint64_t whole = tree->raw == NULL ? size - size % FRAME : size;
    uint64_t done = 0;
    tree->rc = 0;
    tree->err = err;
    tree->units->stats->skipped += size - whole;
    while (tree->rc == 0 && done < whole) {
        uint64_t left = whole - done;
        uint32_t chunk = left < CHUNK ? (uint32_t)left : CHUNK;
        uint32_t used = 0;
        bool goes_on = decode_some(tree, done, bytes + done, chunk, &used);
        done += used;
        if (tree->rc == 0 && !goes_on) {
            done = leap(tree, done, whole);
        }
    }
    if (tree->rc == 0) {
        tell(tree->handle, OCSD_OP_EOT);
    }
    int rc = tree->rc != 0 ? tree->rc : br2_etm_units_part(tree->units, err);
    reset(tree);
    tree->err = NULL;
    return rc != 0 ? rc : tree->rc;
}
