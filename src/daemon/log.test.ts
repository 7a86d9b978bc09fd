import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openLog } from "./log.ts";

const clock = { now: () => 0 };
let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-log-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("openLog()", () => {
  it("writes one private line each, whatever is in the text", () => {
    const path = join(dir, "state", "daemon.log");
    openLog(path, clock)("warn", "a\nb \u001b[31mred\u0000");
    expect(readFileSync(path, "utf8")).toBe("1970-01-01T00:00:00.000Z warn a\\nb \\u001b[31mred\\u0000\n");
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("rotates at the limit, keeps three, and leaves the open file of stdout in use", () => {
    const path = join(dir, "daemon.log");
    const log = openLog(path, clock, { maxBytes: 50, kept: 3 });
    const stdout = openSync(path, "a");
    for (let n = 1; n <= 7; n++) log("info", `line ${n} ${"x".repeat(40)}`);
    writeSync(stdout, "from stdout\n");
    closeSync(stdout);
    expect(readdirSync(dir).sort()).toEqual(["daemon.log", "daemon.log.1", "daemon.log.2", "daemon.log.3"]);
    expect(readFileSync(path, "utf8")).toMatch(/line 7 x+\nfrom stdout\n$/);
    expect(readFileSync(`${path}.1`, "utf8")).toContain("line 6");
    expect(readFileSync(`${path}.3`, "utf8")).toContain("line 4");
  });

  it("does not throw where nothing can be written", () => {
    writeFileSync(join(dir, "file"), "");
    openLog(join(dir, "file", "daemon.log"), clock)("error", "x");
    expect(readFileSync(join(dir, "file"), "utf8")).toBe("");
  });

  it("goes to its other place where the first takes nothing, and only then", () => {
    writeFileSync(join(dir, "file"), "");
    const fallback = join(dir, "run", "daemon.log");
    openLog(join(dir, "daemon.log"), clock, { fallback })("info", "kept");
    expect(readdirSync(dir).sort()).toEqual(["daemon.log", "file"]);
    openLog(join(dir, "file", "daemon.log"), clock, { fallback })("error", "x");
    expect(readFileSync(fallback, "utf8")).toBe("1970-01-01T00:00:00.000Z error x\n");
  });
});
