/* The header says all that it needs, in C99 and later. */
#include "clvet/clvet_c.h"

int clvet_header_alone(void);

int clvet_header_alone(void) {
  clvet_session_options session;
  clvet_language_options language;
  clvet_generate_options generate;
  clvet_probe_options probe;
  clvet_plan_options plan;
  CLVET_INIT(session);
  CLVET_INIT(language);
  CLVET_INIT(generate);
  CLVET_INIT(probe);
  CLVET_INIT(plan);
  return session.struct_size > 0 && !generate.prompt && plan.shape_count == 0 &&
         language.strict == 0 && probe.budget_seconds == 0.0;
}
