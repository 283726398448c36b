/// talus view: the server, for this machine and this run alone.
///
/// It listens on 127.0.0.1, answers requests that know its secret, which other users of the machine
/// do not, and whose Host is its own (a page from elsewhere whose name was made to point here is
/// thereby refused), from no other page, knows GET and HEAD, and takes from a path nothing but one
/// of a few routes, a number and a name of a field: no path of a file ever comes from outside. One
/// thread answers, since HDF5 here is not made for several; another ends what takes too long.
#include "view.h"

#include "app.h"
#include "base/error.h"
#include "base/hash.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CONNECTIONS = 256,         ///< at once; more wait
    QUIET_SECONDS = 10,        ///< after which a connection that says nothing is closed
    HEADER_BYTES = 32768,      ///< memory of a connection: longer requests are refused
    BYTES_UNDER_WAY = 1 << 30, ///< answers that clients have not yet fetched; more are refused
    SECRET_BYTES = 16,
};

typedef struct server {
    view_run* run;
    int port;
    size_t under_way; ///< bytes of answers that are being sent
    view_clients clients;
    char secret[2 * SECRET_BYTES + 1]; ///< the first part of every path
} server;

// ---- what is asked for -------------------------------------------------------------------------

typedef enum route_kind {
    ROUTE_NONE,
    ROUTE_PAGE,
    ROUTE_RUN,
    ROUTE_SHAPES,
    ROUTE_SERIES,
    ROUTE_SURFACE,
    ROUTE_FIELD,
} route_kind;

typedef struct route {
    route_kind kind;
    int64_t frame;
    int64_t after, mark; ///< of ROUTE_RUN: so many frames are known already, with this mark
    const char* table;
    char field[64];
} route;

/// NUMBER/surface.json or NUMBER/TABLE/FIELD.
static route parse_frame(const char* at)
{
    const route none = {.kind = ROUTE_NONE};
    const size_t digits = strspn(at, "0123456789");
    if (digits < 1 || digits > 12 || at[digits] != '/') return none;
    route r = {.frame = strtoll(at, NULL, 10)};
    at += digits + 1;
    if (strcmp(at, "surface.json") == 0) {
        r.kind = ROUTE_SURFACE;
        return r;
    }
    for (int t = 0; t < FRAME_TABLES; t++) {
        const size_t length = strlen(frame_table_names[t]);
        if (strncmp(at, frame_table_names[t], length) != 0 || at[length] != '/') continue;
        const char* field = at + length + 1;
        size_t size = 0;
        while (isalnum((unsigned char)field[size]) || field[size] == '_') size++;
        if (size < 1 || size >= sizeof r.field || field[size] != '\0') return none;
        r.kind = ROUTE_FIELD;
        r.table = frame_table_names[t];
        memcpy(r.field, field, size + 1);
        return r;
    }
    return none;
}

static route parse_route(const char* path)
{
    static const struct {
        const char* path;
        route_kind kind;
    } fixed[] = {{"/", ROUTE_PAGE},
                 {"/api/run.json", ROUTE_RUN},
                 {"/api/shapes.json", ROUTE_SHAPES},
                 {"/api/series.csv", ROUTE_SERIES}};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        if (strcmp(path, fixed[i].path) == 0) return (route){.kind = fixed[i].kind};
    }
    static const char frame[] = "/api/frame/";
    if (strncmp(path, frame, sizeof frame - 1) == 0) return parse_frame(path + sizeof frame - 1);
    return (route){.kind = ROUTE_NONE};
}

/// Paths are taken as they come: no route has a character that would need an escape.
static size_t keep_escapes(void* user, struct MHD_Connection* connection, char* text)
{
    (void)user, (void)connection;
    return strlen(text);
}

// ---- what is answered --------------------------------------------------------------------------

typedef struct answer {
    unsigned status;
    const char* type; ///< of the content
    char* data;       ///< on the heap
    size_t size;
    const char* array_type; ///< NULL: it is no array
    int array_width;
    char tag[40];     ///< "": none
    int64_t identity; ///< of the run it tells about, 0: of none
} answer;

/// A sentence as the whole answer, on one line.
static answer sentence(unsigned status, const char* text)
{
    answer a = {.status = status, .type = "text/plain; charset=utf-8"};
    char* copy = NULL;
    const int length = asprintf(&copy, "%s\n", text);
    if (length < 0) return a;
    for (int i = 0; i < length - 1; i++) {
        if ((unsigned char)copy[i] < 0x20) copy[i] = ' ';
    }
    a.data = copy;
    a.size = (size_t)length;
    return a;
}

/// An array, a table of the series or a JSON document.
static talus_status answer_route(const view_run* v, const route* r, answer* a, talus_error* error)
{
    *a = (answer){.status = MHD_HTTP_OK};
    if (r->kind == ROUTE_FIELD) {
        frame_field field;
        TRY(view_read_field(v, r->frame, r->table, r->field, &field, error));
        a->data = field.own;
        a->size = (size_t)field.rows * (size_t)field.width * frame_element_size(&field);
        a->type = "application/octet-stream";
        a->array_type = view_type_name(field.type);
        a->array_width = field.width;
        return TALUS_OK;
    }
    if (r->kind == ROUTE_SERIES) {
        a->type = "text/csv; charset=utf-8";
        return view_read_series(v, &a->data, &a->size, error);
    }
    a->type = "application/json";
    FILE* out = open_memstream(&a->data, &a->size);
    if (!out) return error_memory(error, "an answer");
    const bool knows = r->after <= v->head_count && r->mark == view_run_mark(v, r->after);
    const frame_range news = {
        .first = knows ? r->after : 0, .last = v->head_count - 1, .stride = 1};
    talus_status status = r->kind == ROUTE_RUN      ? view_write_run(v, &news, false, out, error)
                          : r->kind == ROUTE_SHAPES ? view_write_shapes(v, out, error)
                                                    : view_write_surface(v, r->frame, out, error);
    const bool failed = ferror(out);
    if (fclose(out) != 0 || failed) status = error_memory(error, "an answer");
    return status;
}

/// What is asked of the run. A run that ends gathers its files into one and removes the others: who
/// reads at that moment looks again.
static answer answer_from_run(view_run* v, const route* r)
{
    answer a = {0};
    talus_error error = {0};
    talus_status status = TALUS_OK;
    h5_quiet quiet;
    h5_silence(&quiet);
    for (int attempt = 0; attempt < 2; attempt++) {
        status = view_run_refresh(v, &error);
        if (status == TALUS_OK) status = answer_route(v, r, &a, &error);
        if (status == TALUS_OK || status == TALUS_ERR_ARGUMENT) break;
        free(a.data);
        a.data = NULL;
        view_run_forget(v);
    }
    h5_loud(&quiet);
    a.identity = view_run_identity(v);
    if (status == TALUS_OK) return a;
    free(a.data);
    return sentence(status == TALUS_ERR_ARGUMENT ? MHD_HTTP_NOT_FOUND
                                                 : MHD_HTTP_SERVICE_UNAVAILABLE,
                    error.text);
}

// ---- sending -----------------------------------------------------------------------------------

/// Bytes of an answer under way.
typedef struct parcel {
    server* from;
    void* data;
    size_t size;
} parcel;

static void parcel_free(void* user)
{
    parcel* p = user;
    p->from->under_way -= p->size;
    free(p->data);
    free(p);
}

static void add_headers(struct MHD_Response* response, const answer* a)
{
    static const char* const fixed[][2] = {
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; "
         "img-src data: blob:; font-src data:; worker-src blob:; connect-src 'self'; "
         "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
    };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        MHD_add_response_header(response, fixed[i][0], fixed[i][1]);
    }
    if (a->type) MHD_add_response_header(response, "Content-Type", a->type);
    if (a->status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    }
    // The page keeps what it needs again. A run that is done anew has other numbers under the same
    // paths, which a cache would not notice.
    MHD_add_response_header(response, "Cache-Control", a->tag[0] ? "no-cache" : "no-store");
    if (a->tag[0]) MHD_add_response_header(response, "ETag", a->tag);
    if (a->identity != 0) {
        char number[32];
        snprintf(number, sizeof number, "%lld", (long long)a->identity);
        MHD_add_response_header(response, "X-Talus-Run", number);
    }
    if (a->array_type) {
        char width[16];
        snprintf(width, sizeof width, "%d", a->array_width);
        MHD_add_response_header(response, "X-Talus-Type", a->array_type);
        MHD_add_response_header(response, "X-Talus-Width", width);
    }
}

static view_client* client_of(struct MHD_Connection* connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/// Send an answer and take its data.
static enum MHD_Result send_answer(server* s, struct MHD_Connection* connection, answer a)
{
    // One alone may be larger: it is as large as the run's frames are.
    if (s->under_way > 0 && s->under_way + a.size > BYTES_UNDER_WAY) {
        free(a.data);
        a = sentence(MHD_HTTP_SERVICE_UNAVAILABLE, "too many answers are being fetched");
    }
    parcel* p = malloc(sizeof *p);
    struct MHD_Response* response = NULL;
    if (p) {
        *p = (parcel){.from = s, .data = a.data, .size = a.size};
        response =
            MHD_create_response_from_buffer_with_free_callback_cls(a.size, a.data, parcel_free, p);
    }
    if (!response) {
        free(p);
        free(a.data);
        return MHD_NO;
    }
    s->under_way += a.size;
    view_client_fetches(&s->clients, client_of(connection), a.size);
    add_headers(response, &a);
    const enum MHD_Result queued = MHD_queue_response(connection, a.status, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result send_page(server* s, struct MHD_Connection* connection)
{
    size_t size = 0;
    const char* page = view_page(&size);
    view_client_fetches(&s->clients, client_of(connection), size);
    // MHD does not write to what it is told to be persistent.
    struct MHD_Response* response =
        MHD_create_response_from_buffer(size, (void*)(uintptr_t)page, MHD_RESPMEM_PERSISTENT);
    if (!response) return MHD_NO;
    const answer a = {.status = MHD_HTTP_OK, .type = "text/html; charset=utf-8"};
    add_headers(response, &a);
    const enum MHD_Result queued = MHD_queue_response(connection, a.status, response);
    MHD_destroy_response(response);
    return queued;
}

// ---- requests ----------------------------------------------------------------------------------

/// Host headers of a request: how many, and whether all are ours.
typedef struct host_check {
    int port, count;
    bool own;
} host_check;

static enum MHD_Result check_host(void* user, enum MHD_ValueKind kind, const char* key,
                                  const char* value)
{
    (void)kind;
    host_check* check = user;
    if (strcasecmp(key, "Host") != 0) return MHD_YES;
    char named[2][32];
    snprintf(named[0], sizeof named[0], "127.0.0.1:%d", check->port);
    snprintf(named[1], sizeof named[1], "localhost:%d", check->port);
    check->own = value && (strcasecmp(value, named[0]) == 0 || strcasecmp(value, named[1]) == 0);
    check->count++;
    return MHD_YES;
}

/// Whether a page of somebody else's asks, as browsers tell.
static bool is_foreign(const server* s, struct MHD_Connection* connection)
{
    const char* site = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Site");
    const char* origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
    char own[2][48];
    snprintf(own[0], sizeof own[0], "http://127.0.0.1:%d", s->port);
    snprintf(own[1], sizeof own[1], "http://localhost:%d", s->port);
    return (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0) ||
           (origin && strcasecmp(origin, own[0]) != 0 && strcasecmp(origin, own[1]) != 0);
}

/// The path behind "/SECRET", NULL if that is not how it begins. It takes as long whatever the
/// path.
static const char* behind_secret(const server* s, const char* path)
{
    const size_t length = strlen(s->secret);
    if (strlen(path) < length + 2 || path[0] != '/' || path[length + 1] != '/') return NULL;
    unsigned different = 0;
    for (size_t i = 0; i < length; i++) {
        different |= (unsigned char)path[i + 1] ^ (unsigned char)s->secret[i];
    }
    return different == 0 ? path + length + 1 : NULL;
}

/// A number among the words behind the path, 0 if there is none.
static int64_t number_asked(struct MHD_Connection* connection, const char* name)
{
    const char* text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
    const size_t digits = text ? strspn(text, "0123456789") : 0;
    return digits > 0 && digits <= 16 && text[digits] == '\0' ? strtoll(text, NULL, 10) : 0;
}

/// Why a request is not even looked at; a status of 0 if it is.
static answer refusal(const server* s, struct MHD_Connection* connection, const char* method)
{
    host_check host = {.port = s->port};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, check_host, &host);
    if (host.count != 1 || !host.own) {
        return sentence(MHD_HTTP_MISDIRECTED_REQUEST, "this is not the host you asked for");
    }
    if (is_foreign(s, connection)) {
        return sentence(MHD_HTTP_FORBIDDEN, "other pages may not ask here");
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        return sentence(MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are answered");
    }
    const char* length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    if ((length && strcmp(length, "0") != 0) ||
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Transfer-Encoding")) {
        return sentence(MHD_HTTP_BAD_REQUEST, "a request here has no body");
    }
    return (answer){0};
}

static enum MHD_Result answer_request(void* user, struct MHD_Connection* connection,
                                      const char* url, const char* method, const char* version,
                                      const char* upload, size_t* upload_size, void** seen)
{
    (void)version, (void)upload;
    server* s = user;
    if (!*seen) { // the headers are there; answered now, the connection is closed afterwards
        *seen = s;
        answer no = refusal(s, connection, method);
        return no.status ? send_answer(s, connection, no) : MHD_YES;
    }
    if (*upload_size > 0) return MHD_NO;
    const char* path = behind_secret(s, url);
    if (!path) {
        return send_answer(s, connection,
                           sentence(MHD_HTTP_FORBIDDEN,
                                    "the address has a secret part, as `talus view` printed it"));
    }
    route r = parse_route(path);
    if (r.kind == ROUTE_RUN) {
        r.after = number_asked(connection, "after");
        r.mark = number_asked(connection, "mark");
    }
    if (r.kind == ROUTE_PAGE) return send_page(s, connection);
    if (r.kind == ROUTE_NONE) {
        return send_answer(s, connection,
                           sentence(MHD_HTTP_NOT_FOUND, "there is nothing of this name here"));
    }
    answer a = answer_from_run(s->run, &r);
    if (r.kind == ROUTE_RUN && a.status == MHD_HTTP_OK) {
        // The page asks for the list of frames again; when nothing is new it fetches nothing.
        const uint64_t hash = hash_bytes(HASH_START, a.data, a.size);
        snprintf(a.tag, sizeof a.tag, "\"%016" PRIx64 "\"", hash);
        const char* known =
            MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "If-None-Match");
        if (known && strcmp(known, a.tag) == 0) {
            a.status = MHD_HTTP_NOT_MODIFIED;
            a.size = 0;
        }
    }
    return send_answer(s, connection, a);
}

// ---- connections -------------------------------------------------------------------------------

static void connection_changed(void* user, struct MHD_Connection* connection, void** client,
                               enum MHD_ConnectionNotificationCode what)
{
    server* s = user;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *client = view_client_come(
            &s->clients,
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
    } else {
        view_client_leave(&s->clients, *client);
        *client = NULL;
    }
}

static void request_completed(void* user, struct MHD_Connection* connection, void** seen,
                              enum MHD_RequestTerminationCode how)
{
    (void)seen, (void)how;
    server* s = user;
    view_client_waits(&s->clients, client_of(connection));
}

static bool make_secret(server* s)
{
    unsigned char bytes[SECRET_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return false;
    for (int i = 0; i < SECRET_BYTES; i++) snprintf(s->secret + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

// ---- the daemon --------------------------------------------------------------------------------

/// A socket that listens on 127.0.0.1; *port receives its port. -1, with a message, on failure.
static int listen_here(int* port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int yes = 1;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener >= 0) setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    socklen_t size = sizeof address;
    if (listener < 0 || bind(listener, (struct sockaddr*)&address, sizeof address) != 0 ||
        listen(listener, CONNECTIONS) != 0 ||
        getsockname(listener, (struct sockaddr*)&address, &size) != 0) {
        fprintf(stderr, "talus: cannot listen on 127.0.0.1, port %d: %s%s\n", *port,
                strerror(errno), errno == EADDRINUSE ? "; --port 0 takes a free one" : "");
        if (listener >= 0) close(listener);
        return -1;
    }
    *port = ntohs(address.sin_port);
    return listener;
}

int view_serve(view_run* v, int port, void (*ready)(const char* address, void* user), void* user)
{
    // Before the thread begins, which inherits what is blocked: the signals come to sigwait()
    // alone.
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    signal(SIGPIPE, SIG_IGN);

    server s = {.run = v, .port = port};
    if (!make_secret(&s)) {
        fprintf(stderr, "talus: no random numbers for the address: %s\n", strerror(errno));
        return STATUS_FAILURE;
    }
    int listener = listen_here(&s.port);
    if (listener < 0) return STATUS_FAILURE;
    view_clients_begin(&s.clients, CONNECTIONS);
    struct MHD_Daemon* daemon = MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD, 0, NULL, NULL, answer_request, &s, MHD_OPTION_LISTEN_SOCKET,
        listener, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)QUIET_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_NOTIFY_CONNECTION, connection_changed, &s, MHD_OPTION_NOTIFY_COMPLETED,
        request_completed, &s, MHD_OPTION_END);
    if (!daemon) {
        fprintf(stderr, "talus: cannot start the server: %s\n", strerror(errno));
        close(listener);
        return STATUS_FAILURE;
    }
    char address[64 + sizeof s.secret];
    snprintf(address, sizeof address, "http://127.0.0.1:%d/%s/", s.port, s.secret);
    ready(address, user);
    const struct timespec second = {.tv_sec = 1};
    while (sigtimedwait(&ends, NULL, &second) < 0) view_clients_hurry(&s.clients);
    pthread_sigmask(SIG_UNBLOCK, &ends, NULL); // who insists does not wait for requests to end
    MHD_stop_daemon(daemon);
    view_clients_end(&s.clients);
    return STATUS_OK;
}
