/* classify MODEL [DEVICE] [NAME=AxBxC]...: gives each input of a network ones, runs it, and prints the
 * largest value of its first output. Open dims become 1, or what follows as NAME=AxBxC. */
#include <clvet/clvet_c.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_AXES 8

/* Nothing goes on after an error; what was opened goes with the process. */
static void check(clvet_code code) {
  if (code == CLVET_OK) return;
  fprintf(stderr, "%s: %s\n", clvet_code_name(code), clvet_last_error());
  exit(1);
}

static void warn(const char* text, void* user) {
  (void)user;
  fprintf(stderr, "%s\n", text);
}

/* The word NAME=... of the command line, from its first size on; null where there is none. */
static const char* sizes_of(const char* name, int argc, char** argv) {
  const size_t length = strlen(name);
  for (int i = 2; i < argc; ++i)
    if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=') return argv[i] + length + 1;
  return NULL;
}

/* Writes the shape to `shape` and gives its number of elements. */
static size_t closed_shape(clvet_tensor_info* info, const char* sizes, int64_t* shape) {
  size_t elements = 1;
  if (info->rank > MOST_AXES) exit(1);
  for (size_t axis = 0; axis < info->rank; ++axis) {
    char* end = NULL;
    shape[axis] = info->shape[axis] < 0 ? 1 : info->shape[axis];
    if (sizes) {
      shape[axis] = strtoll(sizes, &end, 10);
      sizes = *end == 'x' ? end + 1 : end;
    }
    elements *= (size_t)shape[axis];
  }
  info->shape = shape;
  return elements;
}

static void set_to_ones(clvet_session* session, clvet_tensor_info info, const char* sizes) {
  int64_t shape[MOST_AXES];
  clvet_values values = {0};
  const size_t elements = closed_shape(&info, sizes, shape);
  float* ones = malloc((elements ? elements : 1) * sizeof(float));
  if (!ones) exit(1);
  for (size_t i = 0; i < elements; ++i) ones[i] = 1.0F;
  values.info = info;
  values.data = ones;
  values.bytes = elements * sizeof(float);
  values.release = free; /* the session reads them where they lie, and gives them back */
  values.user = ones;
  check(clvet_session_set(session, &values, 1));
}

static void print_largest(clvet_session* session, const char* name) {
  clvet_mapping* mapping = NULL;
  void* data = NULL;
  size_t bytes = 0, largest = 0;
  check(clvet_session_map(session, name, CLVET_READ, &mapping));
  check(clvet_mapping_data(mapping, CLVET_F32, &data, &bytes));
  const float* values = data;
  for (size_t i = 1; i < bytes / sizeof(float); ++i)
    if (values[i] > values[largest]) largest = i;
  if (bytes > 0) printf("%s: value %zu is the largest: %.4f\n", name, largest, values[largest]);
  clvet_mapping_free(mapping);
}

int main(int argc, char** argv) {
  clvet_session_options options;
  clvet_session* session = NULL;
  clvet_tensor_list *inputs = NULL, *outputs = NULL;
  clvet_tensor_info info;
  if (argc < 2) {
    fprintf(stderr, "usage: classify MODEL.onnx [DEVICE] [NAME=AxBxC]...\n");
    return 2;
  }
  CLVET_INIT(options);
  options.warning = warn;
  for (int i = 2; i < argc; ++i)
    if (!strchr(argv[i], '=')) options.device = argv[i];
  check(clvet_session_open(argv[1], &options, &session));

  check(clvet_session_inputs(session, &inputs));
  for (size_t i = 0; i < clvet_tensor_list_size(inputs); ++i) {
    check(clvet_tensor_list_get(inputs, i, &info));
    set_to_ones(session, info, sizes_of(info.name, argc, argv));
  }
  check(clvet_session_run(session));

  check(clvet_session_outputs(session, &outputs));
  check(clvet_tensor_list_get(outputs, 0, &info));
  print_largest(session, info.name);
  clvet_tensor_list_free(inputs);
  clvet_tensor_list_free(outputs);
  clvet_session_free(session);
  return 0;
}
