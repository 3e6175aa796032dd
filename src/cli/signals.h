/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Interruptions: SIGINT, SIGTERM, SIGHUP. They end the process at once, unless there are temporary
 * files to remove. */
#ifndef BR2_CLI_SIGNALS_H
#define BR2_CLI_SIGNALS_H

#include <signal.h>

#include "record/record.h"

/* Writing into a closed pipe, or beyond a limit of the size of files, is an error like any other.
 */
void br2_signals_begin(void);

/* For reading a recording from a pipe: Ctrl-C is meant for the recorder that writes into it, which
 * then ends it. The first one is let pass until br2_signals_spare_no_more; a second one ends. */
void br2_signals_spare(void);
void br2_signals_spare_no_more(void);

/* From here on an interruption only asks to stop, in `*br2_signals_stop()`; a second one,
 * more than half a second later, removes temporary files and ends. */
void br2_signals_hold(void);

/* For a recording, which may be asked twice before the third interruption ends. */
#define BR2_SIGNALS_REQUESTS 3
/* `lines`: one for each, printed when it comes; NULL: nothing is. */
void br2_signals_hold_recording(const char *const lines[BR2_SIGNALS_REQUESTS]);

/* Undoes br2_signals_hold and br2_signals_hold_recording. */
void br2_signals_release(void);

/* The signal that asked to stop; 0: none. */
const volatile sig_atomic_t *br2_signals_stop(void);
/* The same, as a recording is asked. */
struct br2_stop *br2_signals_stop_recording(void);

/* Takes the request to stop as answered: br2_signals_end returns. */
void br2_signals_forget(void);

/* Ends the way the signal would have ended the process, as shells expect; returns without one. */
void br2_signals_end(void);

#endif
