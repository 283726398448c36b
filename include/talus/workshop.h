/// The engine and the workshop around it (libtalus_workshop): scenes, runs, recordings, files of
/// other programs, figures and advice. This header includes all the others.
#ifndef TALUS_WORKSHOP_H
#define TALUS_WORKSHOP_H

#include <talus/advise.h>
#include <talus/exchange.h>
#include <talus/figure.h>
#include <talus/record.h>
#include <talus/recording.h>
#include <talus/run.h>
#include <talus/scene.h>
#include <talus/talus.h>

#endif
