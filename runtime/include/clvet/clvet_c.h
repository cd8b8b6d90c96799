/* clvet for C programs, and for languages that call C.
 *
 * Each call that can fail gives a clvet_code; where it is not CLVET_OK, clvet_last_error() says in
 * one line what is wrong, why, and what to do next. Nothing prints, throws or ends the process.
 * What a call gives through `out` is the caller's, and goes back with the clvet_..._free of its
 * type, which takes null; out is null after an error. Handles may be used from any thread; a handle
 * that is being freed may not. Null where a handle, a name or an `out` is wanted is
 * CLVET_INVALID_ARGUMENT; calls without a code give "", 0 or null then.
 *
 * Text is UTF-8 and ends with a NUL; one that a model writes comes as U+FFFD. What a callback
 * throws (it may be C++) becomes an error of the call.
 *
 * The ABI: symbols carry the version CLVET_1. Options begin with struct_size, which CLVET_INIT
 * sets: later versions add members at the end, and members that a caller does not know are 0, which
 * always means the default. Options of a later version are CLVET_UNSUPPORTED where they ask for
 * something that this one does not know. */
#ifndef CLVET_CLVET_C_H
#define CLVET_CLVET_C_H

#include <stddef.h>
#include <stdint.h>
#include <string.h> /* IWYU pragma: keep */

#define CLVET_C_API __attribute__((visibility("default")))
/* Gives all of a structure of options its defaults:
 *   clvet_session_options options; CLVET_INIT(options); */
#define CLVET_INIT(options) \
  ((void)memset(&(options), 0, sizeof(options)), (void)((options).struct_size = sizeof(options)))

#ifdef __cplusplus
extern "C" {
#endif

#define CLVET_ABI 1
/* CLVET_ABI of the library that is loaded. */
CLVET_C_API int32_t clvet_abi(void);
/* Of the library that is loaded, as "MAJOR.MINOR.PATCH". */
CLVET_C_API const char* clvet_version(void);

typedef int32_t clvet_code;
enum {
  CLVET_OK = 0,
  CLVET_INVALID_ARGUMENT = 1, /* the caller's value, file or model is wrong; give another */
  CLVET_NOT_FOUND = 2,        /* a named thing does not exist; name another */
  CLVET_UNSUPPORTED = 3,      /* known, and never possible here; choose another way */
  CLVET_UNAVAILABLE = 4,      /* not possible now (no device, no report); skip or try later */
  CLVET_BUSY = 5,             /* somebody else holds it (a mapping, a run, another process); wait */
  CLVET_STALE = 6,            /* it was made before a resize, or its session is gone */
  CLVET_CANCELLED = 7,        /* it was cancelled, or its session was freed */
  CLVET_DEVICE_ERROR = 8,     /* the driver failed, and nothing was left to fall back to */
  CLVET_RESOURCE_EXHAUSTED = 9, /* too large; try a smaller one */
  CLVET_INTERNAL = 10           /* clvet's own bug; report it */
};
/* "invalid argument", "not found", ...; "unknown code" for a number that means none. */
CLVET_C_API const char* clvet_code_name(clvet_code code);
/* What the last call of this thread that failed said; "" before the first. Stays until the next one
 * fails. */
CLVET_C_API const char* clvet_last_error(void);

typedef int32_t clvet_data_type;
enum {
  CLVET_F32 = 0,
  CLVET_F64 = 1,
  CLVET_F16 = 2, /* IEEE 754 binary16 */
  CLVET_I8 = 3,
  CLVET_I16 = 4,
  CLVET_I32 = 5,
  CLVET_I64 = 6,
  CLVET_U8 = 7,
  CLVET_U16 = 8,
  CLVET_U32 = 9,
  CLVET_U64 = 10,
  CLVET_BOOL = 11, /* one byte, 0 or 1 */
  CLVET_BF16 = 12  /* bfloat16, the upper half of a float's bits */
};
/* "f32", ...; "unknown type" for a number that means none. */
CLVET_C_API const char* clvet_data_type_name(clvet_data_type type);
/* Bytes of one value; 0 for a number that means none. */
CLVET_C_API size_t clvet_data_type_size(clvet_data_type type);

/* A tensor's name, type and shape. -1 in a shape: left open by the model. */
typedef struct clvet_tensor_info {
  const char* name;
  clvet_data_type type;
  size_t rank;
  const int64_t* shape; /* [rank], the slowest axis first */
} clvet_tensor_info;

CLVET_C_API void clvet_string_free(char* text);

/* ---- contexts: what several sessions share ------------------------------------------------- */

typedef struct clvet_context clvet_context;
/* `report`: the file to go by; null: the one that 'clvet probe' keeps. `state_dir`: null: the
 * usual. */
CLVET_C_API clvet_code clvet_context_open(const char* report, const char* state_dir,
                                          clvet_context** out);
/* Sessions that were opened with it keep what they need. */
CLVET_C_API void clvet_context_free(clvet_context* context);

/* ---- sessions: a network, ready to run ------------------------------------------------------ */

/* Gets a warning as it comes, from the thread that computes. */
typedef void (*clvet_warning_fn)(const char* text, void* user);

typedef struct clvet_session_options {
  size_t struct_size;
  const char* device;    /* null: "auto"; "host", an index, platform:index or part of a name */
  const char* precision; /* null: "auto"; "low", "normal" or "high" */
  const char* report;    /* null: the one that 'clvet probe' keeps on this machine */
  const char* state_dir; /* null: $CLVET_STATE_DIR or the XDG folder */
  /* Shares its report and devices; report and state_dir are null then. */
  const clvet_context* context;
  clvet_warning_fn warning;
  void* warning_user;
  int32_t strict; /* not 0: an error, where a fallback is needed */
  /* null: "device": answers wait until the device is ready; "cpu-first": the host gives them until
   * then */
  const char* start;
} clvet_session_options;

typedef struct clvet_session clvet_session;
/* `path`: an ONNX file. `options` may be null. */
CLVET_C_API clvet_code clvet_session_open(const char* path, const clvet_session_options* options,
                                          clvet_session** out);
/* Cancels what still runs, and waits for its end. Mappings of it stay to be freed. */
CLVET_C_API void clvet_session_free(clvet_session* session);

typedef struct clvet_tensor_list clvet_tensor_list;
/* Shapes of inputs are as set, or as the model leaves them; those of outputs are known after a
 * run. */
CLVET_C_API clvet_code clvet_session_inputs(const clvet_session* session, clvet_tensor_list** out);
CLVET_C_API clvet_code clvet_session_outputs(const clvet_session* session, clvet_tensor_list** out);
CLVET_C_API size_t clvet_tensor_list_size(const clvet_tensor_list* list);
/* What it points to lives as long as the list. */
CLVET_C_API clvet_code clvet_tensor_list_get(const clvet_tensor_list* list, size_t index,
                                             clvet_tensor_info* out);
CLVET_C_API void clvet_tensor_list_free(clvet_tensor_list* list);

/* Sets the shapes of the inputs that `shapes` names (their types are not looked at); others keep
 * theirs. All mappings are stale then, and all values are gone. */
CLVET_C_API clvet_code clvet_session_resize(clvet_session* session, const clvet_tensor_info* shapes,
                                            size_t count);

/* Values that lie somewhere already, in row-major order. */
typedef struct clvet_values {
  clvet_tensor_info info;
  const void* data;
  size_t bytes; /* of data; as many as type and shape need */
  /* Called once, from any thread, when the session does not look at `data` any more; may be null.
   * It is called for each of `values` also where the call that gave them fails. */
  void (*release)(void* user);
  void* user;
} clvet_values;
/* The inputs have these values and shapes from now on. They are read where they lie, without a
 * copy, and stay as they are until `release`. After an error all is as it was. */
CLVET_C_API clvet_code clvet_session_set(clvet_session* session, const clvet_values* values,
                                         size_t count);

/* Plans, builds, and checks an answer to zeros where there are no values yet. */
CLVET_C_API clvet_code clvet_session_warm_up(clvet_session* session);
/* Computes the outputs of what the inputs hold, and waits for them. */
CLVET_C_API clvet_code clvet_session_run(clvet_session* session);
/* Ends the run in flight at its next step, and those that wait: they give CLVET_CANCELLED. */
CLVET_C_API clvet_code clvet_session_cancel(clvet_session* session);

/* A run on a thread of the session's own, after those that were asked for before. */
typedef struct clvet_pending clvet_pending;
CLVET_C_API clvet_code clvet_session_run_async(clvet_session* session, clvet_pending** out);
/* Waits `seconds` at most (below 0: as long as it takes). *done is 1 when the run has ended; the
 * code is then the run's. *done is 0 with CLVET_OK while it goes on, and with an error where there
 * is nothing to wait for (CLVET_UNAVAILABLE: in a child process after fork). May be asked again, by
 * several threads too. */
CLVET_C_API clvet_code clvet_pending_wait(clvet_pending* pending, double seconds, int32_t* done);
/* Waits for nothing: the run goes on. */
CLVET_C_API void clvet_pending_free(clvet_pending* pending);

typedef int32_t clvet_access;
enum { CLVET_READ = 0, CLVET_WRITE = 1 };

/* The values of one tensor, until it is freed. */
typedef struct clvet_mapping clvet_mapping;
CLVET_C_API clvet_code clvet_session_map(clvet_session* session, const char* name,
                                         clvet_access access, clvet_mapping** out);
/* What it points to lives as long as the mapping. */
CLVET_C_API clvet_code clvet_mapping_info(const clvet_mapping* mapping, clvet_tensor_info* out);
/* All values, row-major. CLVET_INVALID_ARGUMENT: `type` is not the tensor's; CLVET_STALE: it has
 * ended. Only those that were mapped for writing may be written. Those of an output stay as they
 * are until the mapping is freed, even if the session goes. */
CLVET_C_API clvet_code clvet_mapping_data(const clvet_mapping* mapping, clvet_data_type type,
                                          void** data, size_t* bytes);
/* Ends it before it is freed. */
CLVET_C_API clvet_code clvet_mapping_unmap(clvet_mapping* mapping);
CLVET_C_API void clvet_mapping_free(clvet_mapping* mapping);

/* A tensor to read. The caller sets the name; the rest is the call's. */
typedef struct clvet_output {
  const char* name;
  clvet_tensor_info info; /* lives as long as the mapping, and so does the data */
  const void* data;       /* as clvet_mapping_data gives it */
  size_t bytes;
  clvet_mapping* mapping; /* for clvet_mapping_free */
} clvet_output;
/* clvet_session_map with CLVET_READ of several tensors, and what they hold. After an error none of
 * them is mapped. */
CLVET_C_API clvet_code clvet_session_read(clvet_session* session, clvet_output* outputs,
                                          size_t count);
/* clvet_session_set, clvet_session_run and clvet_session_read in one call, for languages in which a
 * call costs much. It fails as the first of them that fails, and none after that one happens.
 * `has_set` may be null; it is 1 where the inputs have these values now, also after an error. */
CLVET_C_API clvet_code clvet_session_answer(clvet_session* session, const clvet_values* values,
                                            size_t value_count, clvet_output* outputs,
                                            size_t output_count, int32_t* has_set);

/* What runs where, at the moment. */
typedef struct clvet_placement clvet_placement;
CLVET_C_API clvet_code clvet_session_placement(const clvet_session* session, clvet_placement** out);
/* What these give lives as long as the placement. */
CLVET_C_API const char* clvet_placement_device(const clvet_placement* placement); /* or "host" */
CLVET_C_API const char* clvet_placement_precision(const clvet_placement* placement);
CLVET_C_API uint64_t clvet_placement_generation(const clvet_placement* placement);
CLVET_C_API size_t clvet_placement_warning_count(const clvet_placement* placement);
CLVET_C_API const char* clvet_placement_warning(const clvet_placement* placement, size_t index);
CLVET_C_API void clvet_placement_free(clvet_placement* placement);

/* ---- language models ------------------------------------------------------------------------ */

typedef struct clvet_language_options {
  size_t struct_size;
  const char* device; /* as in clvet_session_options, and so on */
  const char* precision;
  const char* memory; /* null: "auto"; "low" (quantised weights) or "normal" */
  const char* report;
  const char* state_dir;
  const clvet_context* context;
  clvet_warning_fn warning;
  void* warning_user;
  int32_t strict;
} clvet_language_options;

typedef struct clvet_language clvet_language;
/* `path`: a GGUF file. `options` may be null. */
CLVET_C_API clvet_code clvet_language_open(const char* path, const clvet_language_options* options,
                                           clvet_language** out);
CLVET_C_API void clvet_language_free(clvet_language* model);
CLVET_C_API clvet_code clvet_language_placement(const clvet_language* model, clvet_placement** out);

/* Token ids, as one block: clvet_tokens_free takes it back. */
CLVET_C_API clvet_code clvet_language_tokenize(const clvet_language* model, const char* text,
                                               int32_t** tokens, size_t* count);
CLVET_C_API void clvet_tokens_free(int32_t* tokens);
CLVET_C_API clvet_code clvet_language_text_of(const clvet_language* model, const int32_t* tokens,
                                              size_t count, char** text);

typedef struct clvet_chat_turn {
  const char* role; /* "system", "user" or "assistant" */
  const char* text;
} clvet_chat_turn;

/* Gets a piece of text, whole UTF-8 characters, from the thread that generates. Not 0: go on. */
typedef int32_t (*clvet_text_fn)(const char* piece, void* user);

typedef struct clvet_generate_options {
  size_t struct_size;
  /* One of these three says what to go on from. */
  const char* prompt;
  const int32_t* prompt_tokens;
  const clvet_chat_turn* turns;
  size_t prompt_token_count, turn_count;
  int64_t max_tokens; /* 0: 128 */
  double temperature; /* 0: always the most likely token, and the rest does not matter */
  int64_t top_k;      /* 0: all */
  double top_p;       /* 0: 1, which is all */
  uint64_t seed;
  clvet_text_fn on_text;
  void* on_text_user;
} clvet_generate_options;

typedef int32_t clvet_ending;
enum {
  CLVET_END_OF_TEXT = 0, /* the model has said all */
  CLVET_LIMIT = 1,       /* max_tokens */
  CLVET_STOPPED = 2      /* on_text said so */
};

typedef struct clvet_generated clvet_generated;
/* Returns when the text is done; on_text gets it as it comes. */
CLVET_C_API clvet_code clvet_language_generate(clvet_language* model,
                                               const clvet_generate_options* options,
                                               clvet_generated** out);
/* Ends what generates at its next step, and what waits: CLVET_CANCELLED. */
CLVET_C_API clvet_code clvet_language_cancel(clvet_language* model);
/* What these give lives as long as the result. */
CLVET_C_API const char* clvet_generated_text(const clvet_generated* result);
CLVET_C_API const int32_t* clvet_generated_tokens(const clvet_generated* result, size_t* count);
CLVET_C_API const int32_t* clvet_generated_prompt(const clvet_generated* result, size_t* count);
CLVET_C_API clvet_ending clvet_generated_ending(const clvet_generated* result);
CLVET_C_API void clvet_generated_free(clvet_generated* result);

/* ---- what is known of this machine ----------------------------------------------------------- */

/* Gets what is going on, a line at a time, from the thread that waits; an empty line twice a second
 * while there is nothing new. 0: end it. */
typedef int32_t (*clvet_progress_fn)(const char* line, void* user);

typedef struct clvet_probe_options {
  size_t struct_size;
  const char* const* libraries; /* these alone; null: all that are found */
  size_t library_count;
  const char* device;    /* those that match alone; null: all */
  const char* tier;      /* null: "core"; "full" */
  const char* report;    /* file to write; null: the one that sessions go by */
  const char* state_dir; /* null: $CLVET_STATE_DIR or the XDG folder */
  /* The clvet program; null: $CLVET_PROGRAM, beside this library, on the PATH. */
  const char* program;
  double budget_seconds; /* ends then, with what is known; 0: no limit */
  clvet_progress_fn progress;
  void* progress_user;
  int32_t fresh;      /* not 0: does not go on where an earlier probe was interrupted */
  int32_t if_changed; /* not 0: nothing is done where the report still holds */
} clvet_probe_options;

/* Tries this machine's OpenCL drivers, in another process, and keeps the report. `json`: all of it
 * (clvet.report/1); may be null. `options` may be null. */
CLVET_C_API clvet_code clvet_probe(const clvet_probe_options* options, char** json);
/* The report in `file`; null: the one in `state_dir` (null: the usual). */
CLVET_C_API clvet_code clvet_report_read(const char* file, const char* state_dir, char** json);

typedef struct clvet_plan_options {
  size_t struct_size;
  const char* device; /* of the report; null: "auto"; "host" */
  const char* precision;
  const char* memory;
  const char* report; /* may be another machine's; null: as clvet_report_read */
  const char* state_dir;
  const clvet_tensor_info* shapes; /* of the inputs that an ONNX model leaves open */
  size_t shape_count;
} clvet_plan_options;

/* How an ONNX or GGUF model runs on a device of a report: clvet.plan/1. Loads no driver. */
CLVET_C_API clvet_code clvet_plan(const char* model, const clvet_plan_options* options,
                                  char** json);

#ifdef __cplusplus
}
#endif

#endif
