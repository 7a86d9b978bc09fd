import { expect, test } from "vitest";
import { SyscallError, type WireError } from "../../abi/errors.ts";
import type { Fact } from "../../abi/fact.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import { WireFault } from "../../wire/client/wire-fault.ts";
import { errorJson, errorLines, invalid, UnknownCommand } from "./errors.ts";
import { wordsIn } from "./text/language.ts";
import { COLOURED, PLAIN } from "./text/paint.ts";
import { en } from "./words/en.ts";
import { zh } from "./words/zh.ts";

const english = en.faults;
const notFound = {
  code: "NOT_FOUND",
  message: "process not found: 9",
  syscall: "Kill",
  pid: 0,
  fact: { kind: "no_process", pid: 9 },
} as const;

test("errorLines() is the screen of the manual, from the wire and from here", () => {
  const screen = "✗ [NOT_FOUND] PID 0 Kill: process not found: 9\n  → hint: crux ps lists the processes";
  expect(errorLines(new WireFault(notFound), english, PLAIN)).toBe(screen);
  expect(errorLines(new SyscallError({ ...notFound, pid: PID_KERNEL }), english, PLAIN)).toBe(screen);
});

test("errorLines() in a Chinese terminal says a known fact in Chinese, and else what kind of error it is", () => {
  const lines = (wire: WireError) => errorLines(new WireFault(wire), zh.faults, PLAIN);
  expect(lines(notFound)).toBe("✗ [NOT_FOUND] 没有 PID 为 9 的进程\n  → 建议: crux ps 列出进程");
  // the daemon has worded the fact for whoever does not know it
  expect(lines({ ...notFound, hint: "crux ps lists the processes" })).toContain("crux ps 列出进程");
  expect(lines({ ...notFound, hint: "look twice" })).toContain("look twice");
  expect(lines({ code: "DRIVER", message: "no answer" })).toBe("✗ [DRIVER] 设备出错：no answer");
  const newer = { kind: "of_a_newer_daemon" } as unknown as Fact;
  expect(lines({ code: "INVALID", message: "x", fact: newer })).toBe("✗ [INVALID] 参数无效：x");
});

test("errorLines() in Chinese differs in the hint's label only", () => {
  expect(
    errorLines(new WireFault(notFound), { ...english, hint: wordsIn("zh").hint }, PLAIN).split("\n")[1],
  ).toBe("  → 建议: crux ps lists the processes");
});

test("errorLines() has no hint line where there is nothing to do, and prefers the daemon's hint", () => {
  expect(errorLines(new WireFault({ code: "DRIVER", message: "no answer" }), english, PLAIN)).toBe(
    "✗ [DRIVER] no answer",
  );
  expect(errorLines(new WireFault({ ...notFound, hint: "look twice" }), english, PLAIN)).toContain(
    "hint: look twice",
  );
});

test("errorLines() of a mount whose place is taken tells how to go on", () => {
  const taken = {
    code: "CONFLICT",
    message: "path is taken: /mnt/mcp/notes",
    syscall: "Mount",
    fact: { kind: "path_taken" },
  } as const;
  expect(errorLines(new WireFault(taken), english, PLAIN)).toContain("hint: crux umount takes it away");
});

test("errorLines() of an almost-command has no code", () => {
  expect(errorLines(new UnknownCommand("pss", ["ps"]), english, PLAIN)).toBe(
    "✗ unknown command: pss\n  → hint: crux ps, or crux -- pss to use it as an intent",
  );
});

test("errorLines() colours the mark and changes no character", () => {
  expect(errorLines(invalid("x"), english, COLOURED)).toBe("\x1b[31m✗\x1b[39m [INVALID] x");
});

test("errorJson() has the documented keys in order, and no others", () => {
  expect(errorJson(new WireFault({ ...notFound, device: "/dev/x", hint: "h", retryable: true }))).toBe(
    '{"ok": false, "error": {"code": "NOT_FOUND", "message": "process not found: 9", "syscall": "Kill", "device": "/dev/x"}}',
  );
  expect(errorJson(new TypeError("odd"))).toBe(
    '{"ok": false, "error": {"code": "INTERNAL", "message": "odd"}}',
  );
});
