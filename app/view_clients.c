/// talus view: who is connected, and how long that may last.
///
/// The library that speaks HTTP closes a connection that is silent. One that sends a byte now and
/// then, or fetches its answer as slowly, would hold its place for ever, and with it those of
/// others.
#include "view.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

/// Seconds for a whole request, and where most places are taken; for an answer, with a second more
/// for so many bytes.
#define REQUEST_SECONDS 15.0
#define CROWDED_SECONDS 1.0
#define ANSWER_SECONDS 30.0
#define SLOWEST 100e3

struct view_client {
    int socket;
    bool waiting; ///< for a request, not for an answer to be fetched
    double until; ///< clock
    double since;
    struct view_client *next, *previous;
};

void view_clients_begin(view_clients* c, int places)
{
    *c = (view_clients){.places = places};
    pthread_mutex_init(&c->lock, NULL);
}

void view_clients_end(view_clients* c)
{
    while (c->first) view_client_leave(c, c->first);
    pthread_mutex_destroy(&c->lock);
}

view_client* view_client_come(view_clients* c, int socket)
{
    view_client* who = calloc(1, sizeof *who);
    if (!who) return NULL; // nobody watches over it, but its silence
    who->socket = socket;
    pthread_mutex_lock(&c->lock);
    who->next = c->first;
    if (c->first) c->first->previous = who;
    c->first = who;
    c->count++;
    pthread_mutex_unlock(&c->lock);
    view_client_waits(c, who);
    return who;
}

void view_client_leave(view_clients* c, view_client* who)
{
    if (!who) return;
    pthread_mutex_lock(&c->lock);
    if (who->next) who->next->previous = who->previous;
    if (who->previous) who->previous->next = who->next;
    if (c->first == who) c->first = who->next;
    c->count--;
    pthread_mutex_unlock(&c->lock);
    free(who);
}

static void set_state(view_clients* c, view_client* who, bool waiting, double seconds)
{
    if (!who) return;
    pthread_mutex_lock(&c->lock);
    who->waiting = waiting;
    who->since = clock_seconds();
    who->until = who->since + seconds;
    pthread_mutex_unlock(&c->lock);
}

void view_client_waits(view_clients* c, view_client* who)
{
    set_state(c, who, true, REQUEST_SECONDS);
}

void view_client_fetches(view_clients* c, view_client* who, size_t size)
{
    set_state(c, who, false, ANSWER_SECONDS + (double)size / SLOWEST);
}

void view_clients_hurry(view_clients* c)
{
    pthread_mutex_lock(&c->lock); // nobody leaves, so that no socket gets another owner
    const double now = clock_seconds();
    const bool crowded = 4 * c->count > 3 * c->places;
    for (const view_client* who = c->first; who; who = who->next) {
        const bool late =
            now > who->until || (crowded && who->waiting && now > who->since + CROWDED_SECONDS);
        if (late) shutdown(who->socket, SHUT_RDWR);
    }
    pthread_mutex_unlock(&c->lock);
}
