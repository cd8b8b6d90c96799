// All of clvet for C++ programs.
#pragma once

#include "clvet/result.h"   // IWYU pragma: export
#include "clvet/session.h"  // IWYU pragma: export
#include "clvet/tensor.h"   // IWYU pragma: export
