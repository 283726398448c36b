#include "world/pace.h"

/// Steps of a trial, half of them by one thread; they alternate, since steps resemble their
/// neighbours. While trials agree the pause between them doubles: where two threads take 0.6 of the
/// time of one, the trials cost 9 % of the first 20 steps and 0.6 % in the long run.
enum { TRIAL = 6, SHORT_PAUSE = 20, LONG_PAUSE = 320 };
/// A change has to be worth it: times scatter by some per cent.
static const double GAIN = 0.97;

thread_pace pace_begin(int allowed)
{
    return (thread_pace){
        .allowed = allowed, .threads = allowed, .pause = SHORT_PAUSE, .left = SHORT_PAUSE};
}

/// The trial is over: who goes on?
static void judge(thread_pace* p)
{
    const double all = p->seconds[0] * p->work[1], one = p->seconds[1] * p->work[0];
    const bool alone = p->alone ? one < all / GAIN : one < all * GAIN;
    p->pause = alone != p->alone ? SHORT_PAUSE : 2 * p->pause;
    if (p->pause > LONG_PAUSE) p->pause = LONG_PAUSE;
    p->alone = alone;
    p->left = p->pause;
    p->tried = 0;
    for (int k = 0; k < 2; k++) p->seconds[k] = p->work[k] = 0.0;
}

void pace_step(thread_pace* p, double seconds, double work)
{
    if (p->allowed <= 1) return;
    if (p->left > 0) {
        p->left--;
    } else {
        const bool by_one = p->threads == 1;
        p->seconds[by_one] += seconds;
        p->work[by_one] += work;
        if (++p->tried == TRIAL) judge(p);
    }
    const bool one = p->left > 0 ? p->alone : p->tried % 2 == 1;
    p->threads = one ? 1 : p->allowed;
}
