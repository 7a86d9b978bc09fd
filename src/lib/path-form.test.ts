import { expect, test } from "vitest";
import { pathProblem } from "./path-form.ts";

test.each(["/ws/a\0.txt", "/ws/\\\\h\\s", "\\\\?\\C:\\x", "/ws/C:x", "C:\\x", "/ws/f:s", "/ws/a\ud800"])(
  "pathProblem(%j) says what is wrong",
  (path) => expect(pathProblem(path)).toMatch(/a path/),
);

test.each(["/", "/ws/a b", "/ws/12:30.log", "/ws/back\\slash", "/ws/é", "/ws/cc:x"])(
  "pathProblem(%j) finds nothing",
  (path) => expect(pathProblem(path)).toBeNull(),
);
