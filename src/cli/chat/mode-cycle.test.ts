import { expect, test } from "vitest";
import { Fault } from "../../abi/errors.ts";
import { isClosed, modesAfter } from "./mode-cycle.ts";

test("modesAfter() goes round default, accept_edits, plan and auto, as far as the ceiling reaches", () => {
  expect(modesAfter("default", "auto")).toEqual(["accept_edits", "plan", "auto"]);
  expect(modesAfter("auto", "auto")).toEqual(["default", "accept_edits", "plan"]);
  expect(modesAfter("plan", "accept_edits")).toEqual(["default", "accept_edits"]);
  expect(modesAfter("plan", "plan")).toEqual([]);
});

test("modesAfter() has bypass only where the session may be in it, and leads out of dont_ask", () => {
  expect(modesAfter("auto", "bypass")).toEqual(["bypass", "default", "accept_edits", "plan"]);
  expect(modesAfter("dont_ask", "auto")).toEqual(["default", "accept_edits", "plan", "auto"]);
});

test("isClosed() tells a mode that cannot be entered from a daemon that cannot be reached", () => {
  expect(isClosed(new Fault({ code: "UNAVAILABLE", message: "auto mode: no" }))).toBe(true);
  expect(isClosed(new Fault({ code: "NOT_FOUND", message: "process not found" }))).toBe(false);
});
