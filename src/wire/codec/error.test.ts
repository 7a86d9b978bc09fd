import { expect, test } from "vitest";
import { Fault, SyscallError } from "../../abi/errors.ts";
import type { Fact } from "../../abi/fact.ts";
import { asPid } from "../../abi/ids.ts";
import { nextStep, noticeLine, toWireError } from "./error.ts";

const fact = { kind: "no_process", pid: 9 } as const;

test("toWireError() sends the fact, and its words as the hint of a client that knows none", () => {
  const error = new SyscallError({
    syscall: "Kill",
    pid: asPid(0),
    code: "NOT_FOUND",
    message: "gone",
    fact,
  });
  const wire = { code: "NOT_FOUND", message: "gone", syscall: "Kill", pid: 0 };
  expect(toWireError(error)).toEqual({ ...wire, hint: "crux ps lists the processes", fact });
});

test("toWireError() finds the fact below what wraps it, and prefers a hint of the error itself", () => {
  const cause = new Fault({ code: "NOT_FOUND", message: "gone", fact });
  expect(toWireError(new Fault({ code: "NOT_FOUND", message: "x", cause })).fact).toEqual(fact);
  expect(toWireError(new Fault({ code: "NOT_FOUND", message: "x", hint: "wait", cause })).hint).toBe("wait");
});

test("toWireError() of a limit names the command that raises it, also for programs", () => {
  const limit = { kind: "limit_reached", pid: 12, unit: "usd", need: 10 } as const;
  const error = new Fault({ code: "BUDGET", message: "x", fact: limit, details: { account: 12 } });
  expect(toWireError(error)).toMatchObject({
    hint: "to raise it: crux budget set 12 --usd 10",
    details: { account: 12, raise: "crux budget set 12 --usd 10" },
  });
});

test.each<[Fact, string]>([
  [{ kind: "paused", pid: 7 }, "crux cont 7 resumes it, crux attach 7 shows it, crux kill 7 ends it"],
  [{ kind: "stopped", pid: 7 }, "crux resume 7 resumes it"],
  [{ kind: "resting", pid: 7 }, "crux -r 7 continues it, crux kill 7 ends it"],
  [{ kind: "damaged", pid: null }, "crux fsck shows what is damaged"],
  [{ kind: "disk", reason: "journal_full", path: "/s" }, "free some space on the file system of /s"],
  [
    { kind: "needs_approval", remedy: { rules: ["bash(ls a)", "view"] } },
    "to allow it: --allow 'bash(ls a)' --allow view",
  ],
  [
    { kind: "needs_approval", remedy: { mode: "accept_edits" } },
    "to allow it: --permission-mode accept_edits",
  ],
  [{ kind: "untrusted", folder: "/a b" }, "look at it and trust it: crux trust '/a b'"],
  [{ kind: "tree_file", path: "/proc/1/status" }, "crux cat /proc/1/status"],
  [{ kind: "host_file", path: "/etc/a b" }, "cat '/etc/a b'"],
  [{ kind: "no_setting", near: null }, "crux config list --all names them"],
  [{ kind: "no_setting", near: "model" }, "did you mean model?"],
  [
    { kind: "cut_off", method: "mail.send" },
    "crux logs <pid> shows what it has read, before you send it again",
  ],
  [{ kind: "cut_off", method: "kill" }, "crux ps shows what it came to"],
  [{ kind: "daemon_silent" }, "crux daemon restart --force"],
  [
    { kind: "no_model", model: "opus", ways: ["Set A.", "Run `b`."] },
    "Set A. Run `b`. crux doctor shows what is set up.",
  ],
  [
    { kind: "no_model", model: "x", ways: [] },
    "For a server of your own: OPENAI_BASE_URL, OPENAI_API_KEY and --model openai/x. crux doctor shows what is set up.",
  ],
])("nextStep() of %j", (each, words) => {
  expect(nextStep(each)).toBe(words);
});

test("a fact of a newer version has no words here", () => {
  const newer = { kind: "from_the_future" } as unknown as Fact;
  expect([nextStep(newer), noticeLine({ message: "it stopped", fact: newer })]).toEqual([
    undefined,
    "it stopped",
  ]);
});
