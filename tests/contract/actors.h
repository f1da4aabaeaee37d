/*
 * actors.h - the processes of a scene, and its callbacks: whichever is the caller makes the call.
 */
#ifndef SB_TESTS_CONTRACT_ACTORS_H
#define SB_TESTS_CONTRACT_ACTORS_H

#include "tests/contract/scene.h"

/* Commands of the processes here. */
enum { KEEP = 300, CALL };

/* The message that the caller ON_DROP, or HELPER, sees dropped. */
#define DROPPED 77

/* The message that makes the actor act. */
#define ACT 78

/* Makes the call; step is one of home, or NULL. */
void scene_make_call(struct scene *scene, struct sb_step *step);

/* Waits until the call has returned, or chance has kept the caller from existing. */
void scene_await_call(struct scene *scene);

/* The call, made by the visitor of a list. */
void scene_visit(void *scene, const struct sb_process_info *info);

/* Submitted by the scene, or spawned by the actor; its init, on_start, close or on_complete is the
 * caller. */
extern const struct sb_process_ops scene_newcomer;
/* Can be sent to, cancelled and terminated. It yields once, and the completer is kept. */
extern const struct sb_process_ops scene_companion;
/* Acts when it gets a message: it is the caller, or leads to it. */
extern const struct sb_process_ops scene_actor;
/* Has to be ended by force: it always has a message unread, and ignores the cancel event. */
extern const struct sb_process_ops scene_stubborn;
/* Ends while a message to it is held. */
extern const struct sb_process_ops scene_receiver;

/* Handlers and callbacks; the context or hook is the scene. */
int scene_keep(void *scene, const struct sb_command *command, const struct sb_completer *completer);
int scene_serve(void *scene, const struct sb_command *command,
		const struct sb_completer *completer);
int scene_route(struct sb_receiver *receiver, const struct sb_package *package);
int scene_on_start(void *scene, sb_pid pid);
void scene_on_complete(void *scene, const struct sb_exit *exit);
void scene_on_drop(void *scene, const struct sb_event *event);

/* The last thread that the calling thread has created. */
pthread_t scene_last_thread(void);

#endif
