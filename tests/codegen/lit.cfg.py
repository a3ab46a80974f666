# SPDX-License-Identifier: Apache-2.0
# Loaded through the build tree's lit.site.cfg.py, which says where the tools are.
import os

import lit.formats

config.name = "codegen"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".halftone", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join(config.halftone_tools + [config.environment["PATH"]])
config.environment["FILECHECK_OPTS"] = "--dump-input=fail --allow-unused-prefixes=false"
config.substitutions.append(("%models", config.halftone_models))
