/// talus view: what its files share.
///
/// view_run.c watches the run's files, view_answers.c writes what the page asks for, view_server.c
/// hands it out over HTTP to those that view_clients.c keeps an eye on, view_export.c puts all of
/// it into one file, view_page.c holds the page. docs/viewer-server.md has the paths and formats.
/// HDF5 is used by one thread at a time.
#ifndef TALUS_APP_VIEW_H
#define TALUS_APP_VIEW_H

#include "record/frame_read.h"
#include "recorded.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

// ---- view_page.c -------------------------------------------------------------------------------

/// The page, a whole HTML document; NULL if the program was built without one. Static.
const char* view_page(size_t* size);
/// Where in the page an export puts its data; it is there exactly once.
#define VIEW_DATA_MARK "<!--talus-data-->"

// ---- view_run.c --------------------------------------------------------------------------------

/// Which file stands under a name, and in which state; all zero: none.
typedef struct view_stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
} view_stamp;

/// A run's folder as it was when last looked at.
typedef struct view_run {
    const char* directory;
    bool looked;                        ///< the title is known, be it empty
    view_stamp frames_stamp, run_stamp; ///< of frames.h5 and run.json
    frame_reader reader;                ///< `file` is -1 while frames.h5 cannot be read
    char title[256];
    frame_data* head; ///< [head_count] of all frames, without fields
    int64_t head_count, head_capacity;
    frame_data newest; ///< frame, with the list of its fields
} view_run;

/// Begin to watch; `directory` must outlive it. Nothing is read yet.
view_run view_run_make(const char* directory);
void view_run_end(view_run* v);
/// Look at the files and read what is new. After a failure the next call begins anew.
talus_status view_run_refresh(view_run* v, talus_error* error);
/// Forget the open file, so that the next refresh opens it again.
void view_run_forget(view_run* v);
/// Path of a file of the run, on the heap. TALUS_ERR_FORMAT if it is a link to somewhere else: what
/// is not in the folder is not shown.
talus_status view_run_path(const view_run* v, const char* name, char** out, talus_error* error);
/// A number below 2^53 that changes with frames.h5.
int64_t view_run_generation(const view_run* v);
/// A number below 2^53 that another run in the same folder does not have (run.json is written
/// once).
int64_t view_run_identity(const view_run* v);

// ---- view_answers.c ----------------------------------------------------------------------------

/// Names of the types of arrays: "f64", "i64", "i32", "u8".
const char* view_type_name(column_type type);

/// The documents of the page. All need a view_run that was refreshed. An export has some frames
/// only, renumbered from 0, and numbers of 64 bits have become such of 32 there.
talus_status view_write_run(const view_run* v, const frame_range* range, bool exported, FILE* out,
                            talus_error* error);
/// A number below 2^53 for times and steps of the first `count` frames: who has the list of them
/// can ask for the rest.
int64_t view_run_mark(const view_run* v, int64_t count);
talus_status view_write_shapes(const view_run* v, FILE* out, talus_error* error);
talus_status view_write_surface(const view_run* v, int64_t frame, FILE* out, talus_error* error);
/// series.csv up to its last whole line; the caller frees *data.
talus_status view_read_series(const view_run* v, char** data, size_t* size, talus_error* error);
/// One field of a frame; the caller frees out->own. TALUS_ERR_ARGUMENT if there is none.
talus_status view_read_field(const view_run* v, int64_t frame, const char* table, const char* name,
                             frame_field* out, talus_error* error);

// ---- view_clients.c ----------------------------------------------------------------------------

/// A connection, from one thread; NULL where memory was short. And all of them, which another looks
/// at.
typedef struct view_client view_client;
typedef struct view_clients {
    pthread_mutex_t lock;
    view_client* first;
    int count, places;
} view_clients;

void view_clients_begin(view_clients* c, int places);
void view_clients_end(view_clients* c);
/// It has come with this socket, and must leave before that is closed.
view_client* view_client_come(view_clients* c, int socket);
void view_client_leave(view_clients* c, view_client* who);
/// It may now send a request, or fetch an answer of this size.
void view_client_waits(view_clients* c, view_client* who);
void view_client_fetches(view_clients* c, view_client* who, size_t size);
/// Close the connections of those that take too long; to be called every second or so.
void view_clients_hurry(view_clients* c);

// ---- view_server.c -----------------------------------------------------------------------------

/// Serve the run on 127.0.0.1:port (0: a free one) until SIGINT or SIGTERM. `ready` is called with
/// the address once it can be asked for: it ends in a secret, without which nothing is answered.
/// Returns exit status.
int view_serve(view_run* v, int port, void (*ready)(const char* address, void* user), void* user);

// ---- view_export.c -----------------------------------------------------------------------------

/// Write the page with the chosen frames inside, without a choice all; `force` replaces a file.
/// Returns exit status.
int view_export(view_run* v, const char* path, const frame_choice* choice, bool force);

#endif
