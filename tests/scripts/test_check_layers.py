"""scripts/check-layers on small wrong trees: each kind of offence is found, and what is right passes."""
import pathlib
import subprocess
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
VIEWER, OTHER = "web/js/tools/memory_viewer", "web/js/tools/device_memory"


def check(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            file = pathlib.Path(folder) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n")
        done = subprocess.run([REPO / "scripts" / "check-layers", folder], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


class LayersTest(unittest.TestCase):
    def assert_wrong(self, files, words):
        status, printed = check(files)
        self.assertEqual(1, status, printed)
        self.assertEqual(1, len(printed.splitlines()), printed)
        self.assertIn(words, printed)

    def assert_right(self, files):
        self.assertEqual((0, ""), check(files))

    def assert_c_wrong(self, file, include, words):
        self.assert_wrong({file: f"#include {include}"}, words)


class RoomsTest(LayersTest):
    def test_a_room_uses_what_is_below_it(self):
        self.assert_right({"analysis/memory/a.c": '#include "analysis/base/b.h"\n#include "proto/c.h"',
                           "server/api/d.c": '#include "server/text/e.h"\n#include "analysis/profile/steps/f.h"',
                           "server/main.c": '#include "server/api/api.h"\n#include <stdio.h>'})

    def test_a_room_does_not_use_what_is_above_it(self):
        for file, include in (("proto/a.c", "analysis/base/b.h"), ("analysis/base/a.c", "analysis/input/b.h"),
                              ("analysis/memory/a.c", "server/text/b.h"), ("server/text/a.h", "server/store/b.h"),
                              ("server/store/a.c", "server/http/b.h"), ("server/http/a.c", "server/document/b.h"),
                              ("server/document/a.c", "server/api/b.h"), ("server/api/a.c", "server/routes.h"),
                              ("server/app.h", "server/http/b.h")):
            self.assert_c_wrong(file, f'"{include}"', "may not use")

    def test_rooms_of_one_floor_do_not_use_each_other(self):
        for file, include in (("analysis/compare/a.c", "analysis/advice/b.h"), ("server/api/a.c", "server/command/b.h"),
                              ("server/saving/a.c", "server/document/b.h"), ("server/xprof/a.c", "server/document/b.h"),
                              ("server/http/a.c", "server/explanation/b.h"),
                              ("analysis/profile/questions/a.c", "analysis/profile/xprof/b.h")):
            self.assert_c_wrong(file, f'"{include}"', "may not use")

    def test_the_drawers_of_the_memory_profile(self):
        for file, include in (("events/a.c", "steps/b.h"), ("steps/a.c", "memory_profile.h"),
                              ("events/a.c", "memory_profile.h"), ("memory_profile.c", "questions/b.h")):
            self.assert_c_wrong(f"analysis/profile/{file}", f'"analysis/profile/{include}"', "may not use")

    def test_a_room_that_nobody_placed(self):
        self.assert_wrong({"server/attic/a.c": ""}, "a room that has no place")

    def test_headers_that_belong_to_some_places(self):
        for file, include, words in (("server/api/a.c", "<microhttpd.h>", "libmicrohttpd"),
                                     ("analysis/oom/a.c", "<jansson.h>", "JSON"),
                                     ("analysis/memory/a.c", "<protobuf-c/protobuf-c.h>", "wire walk"),
                                     ("analysis/hlo/a.c", "<zlib.h>", "byte_source"),
                                     ("analysis/memory/a.c", "<unistd.h>", "touches files"),
                                     ("analysis/input/a.c", "<sys/mman.h>", "never mapped"),
                                     ("analysis/memory/a.c", "<pthread.h>", "threads"),
                                     ("server/api/a.c", '"tests/unit/b.h"', "its tests"),
                                     ("server/api/a.c", '"api.h"', "by their path")):
            self.assert_c_wrong(file, include, words)


class CirclesTest(LayersTest):
    def test_c_files_that_call_each_other(self):
        self.assert_wrong({"analysis/oom/a.c": "int a(int n) {\n    return n ? b(n) : 0;\n}",
                           "analysis/oom/b.c": "int b(int n) {\n    return a(n - 1);\n}"}, "a circle of calls")

    def test_a_circle_of_three_through_functions_handed_over(self):
        self.assert_wrong({"analysis/oom/a.c": "int a(void) {\n    return b();\n}",
                           "analysis/oom/b.c": "int b(void) {\n    return c();\n}",
                           "analysis/oom/c.c": "int c(void) {\n    return walk(a);\n}"},
                          "analysis/oom/a <-> analysis/oom/b <-> analysis/oom/c")

    def test_calling_one_way_is_no_circle(self):
        own_a = "static int a(void) {\n    return 0;\n}\n\n"
        self.assert_right({"analysis/oom/a.c": "int a(void) {\n    return b();  // and not a() by b\n}",
                           "analysis/oom/b.c": own_a + 'int b(void) {\n    say("a");\n    return a() + it->a;\n}'})

    def test_headers_that_include_each_other(self):
        self.assert_wrong({"analysis/oom/a.h": '#include "analysis/oom/b.h"',
                           "analysis/oom/b.h": '#include "analysis/oom/a.h"'}, "a circle of includes")

    def test_a_part_that_needs_a_struct_of_the_whole(self):
        part = {"analysis/oom/part.h": '#include "analysis/oom/whole.h"', "analysis/oom/whole.h": "struct whole;"}
        self.assert_wrong({**part, "analysis/oom/whole.c": '#include "analysis/oom/part.h"'},
                          "analysis/oom/part <-> analysis/oom/whole")
        self.assert_right({**part, "analysis/oom/making.c": '#include "analysis/oom/part.h"'})

    def test_modules_that_import_each_other(self):
        self.assert_wrong({f"{VIEWER}/a.js": 'import { b } from "./b.js";',
                           f"{VIEWER}/b.js": 'export {\n  a,\n} from "./a.js";'}, "a circle of imports")

    def test_loading_on_demand_is_no_circle(self):
        self.assert_right({f"{VIEWER}/a.js": 'import { b } from "./b.js";',
                           f"{VIEWER}/b.js": 'const later = () => import("./a.js");'})


class PageTest(LayersTest):
    def test_a_tool_from_its_data_to_its_views(self):
        self.assert_right({f"{VIEWER}/tool.js": 'import { v } from "./views/v.js";',
                           f"{VIEWER}/views/v.js": 'import { d } from "../draw/d.js";\ndocument.title = d;',
                           f"{VIEWER}/draw/d.js": 'import { l } from "../layout/l.js";\nwindow.devicePixelRatio;',
                           f"{VIEWER}/layout/l.js": 'import { m } from "../data/m.js";',
                           f"{VIEWER}/data/m.js": 'import { f } from "../../../base/f.js";\n// document.title\n'
                                                  "const of = (window) => window.begin;",
                           f"{VIEWER}/views/w.js": 'import { s } from "../../../shell/s.js";',
                           "web/js/base/f.js": "", "web/js/shell/s.js": ""})

    def test_data_and_layout_and_draw_keep_their_order(self):
        for low, high in (("data", "layout"), ("data", "views"), ("layout", "draw"), ("layout", "views"),
                          ("draw", "views")):
            self.assert_wrong({f"{VIEWER}/{low}/a.js": f'import {{ b }} from "../{high}/b.js";',
                               f"{VIEWER}/{high}/b.js": ""}, f"{low} comes before {high}")

    def test_data_knows_no_shell_and_no_server(self):
        for other in ("shell/b.js", "api.js"):
            self.assert_wrong({f"{VIEWER}/data/a.js": f'import {{ b }} from "../../../{other}";',
                               f"web/js/{other}": ""}, "data knows neither the shell nor the server")

    def test_data_does_not_reach_the_document(self):
        for text in ("document.body;", "window.innerWidth;", 'localStorage["a"];'):
            self.assert_wrong({f"{VIEWER}/data/a.js": text}, "data is pure")

    def test_layout_does_not_reach_the_document_through_others(self):
        self.assert_wrong({f"{VIEWER}/layout/a.js": 'import { b } from "../../../base/b.js";',
                           "web/js/base/b.js": 'import { c } from "./c.js";',
                           "web/js/base/c.js": "export const c = () => document.body;"},
                          "base/b.js -> web/js/base/c.js: layout is pure")

    def test_tools_do_not_import_each_other(self):
        self.assert_wrong({f"{VIEWER}/views/a.js": 'import { b } from "../../device_memory/data/b.js";',
                           f"{OTHER}/data/b.js": ""}, "tools never import each other")

    def test_the_base_and_the_shell_know_no_tool(self):
        for area in ("base", "shell"):
            self.assert_wrong({f"web/js/{area}/a.js": 'import { b } from "../tools/memory_viewer/data/b.js";',
                               f"{VIEWER}/data/b.js": ""}, f"the {area} knows no")

    def test_packages_and_other_places(self):
        self.assert_wrong({"web/js/base/a.js": 'import x from "lodash";'}, "no packages")
        self.assert_wrong({"web/js/base/a.js": 'const url = "/data/plugin/profile";'}, "only /api/v1")
        self.assert_wrong({"web/index.html": '<script src="https://cdn.example/x.js">'}, "nothing from elsewhere")


class RepositoryTest(unittest.TestCase):
    def test_this_repository_keeps_to_its_rooms(self):
        done = subprocess.run([REPO / "scripts" / "check-layers"], text=True, stdout=subprocess.PIPE)
        self.assertEqual((0, ""), (done.returncode, done.stdout))


if __name__ == "__main__":
    unittest.main()
