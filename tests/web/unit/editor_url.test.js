import { test } from "node:test";
import assert from "node:assert/strict";
import { editorUrl, framePlace, mappedPath } from "../../../web/js/base/editor_url.js";

const vscode = { editor: "vscode", from: "", to: "" };

test("a line opens in the chosen editor", () => {
  assert.equal(editorUrl("/home/u/train.py:53", vscode), "vscode://file/home/u/train.py:53");
  assert.equal(editorUrl("/a b/#1?.py:7", vscode), "vscode://file/a%20b/%231%3F.py:7");
  assert.equal(editorUrl("C:\\u\\train.py:5", vscode), "vscode://file/C%3A/u/train.py:5");
  assert.equal(editorUrl("/u/t.py:5", { ...vscode, editor: "idea" }), "idea://open?file=/u/t.py&line=5");
});

test("code that ran elsewhere is found by another prefix", () => {
  const choice = { editor: "vscode", from: "/srv/job/", to: "/work_here/" };
  assert.equal(editorUrl("/srv/job/train.py:5", choice), "vscode://file/work_here/train.py:5");
  assert.equal(mappedPath("/opt/x.py", choice), "/opt/x.py");
  assert.equal(editorUrl("train.py:5", { ...choice, from: "train", to: "/w/train" }), "vscode://file/w/train.py:5");
});

test("a frame of a stack has its place, and what follows", () => {
  const frame = framePlace("/home/u/train.py:53:10 make_step.<locals>.loss");
  assert.deepEqual(frame, { place: "/home/u/train.py:53", rest: ":10 make_step.<locals>.loss" });
  assert.deepEqual(framePlace("C:\\u\\train.py:53"), { place: "C:\\u\\train.py:53", rest: "" });
  for (const odd of ["<module>", "train.py", "", ":5"])
    assert.deepEqual(framePlace(odd), { place: "", rest: odd });
});

test("whatever a profile says, the scheme is the editor's and the path is one", () => {
  for (const place of [
    "javascript:alert(1)//x:5",
    "javascript:alert(1):5",
    "train.py:5",
    "//evil.example/x.py:5",
    "\\\\evil\\share\\x.py:5",
    "/a\nb.py:5",
    "/a\u0000b.py:5",
    "/x.py",
    "/x.py:5:6:z",
    "",
  ]) {
    assert.equal(editorUrl(place, vscode), null, place);
  }
  assert.equal(editorUrl("/x&line=9.py:5", { ...vscode, editor: "idea" }), "idea://open?file=/x%26line%3D9.py&line=5");
  for (const editor of ["", "javascript", "__proto__"]) assert.equal(editorUrl("/x.py:5", { ...vscode, editor }), null);
});
