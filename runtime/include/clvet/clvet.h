// All of clvet for C++ programs.
#pragma once

#include "clvet/context.h"    // IWYU pragma: export
#include "clvet/language.h"   // IWYU pragma: export
#include "clvet/machine.h"    // IWYU pragma: export
#include "clvet/placement.h"  // IWYU pragma: export
#include "clvet/result.h"     // IWYU pragma: export
#include "clvet/session.h"    // IWYU pragma: export
#include "clvet/tensor.h"     // IWYU pragma: export
