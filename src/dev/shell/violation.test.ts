import { describe, expect, it } from "vitest";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import { violationWords } from "./violation.ts";

const sandbox: SandboxProfile = { write: ["/ws"], protect: [], hide: [], show: [], network: "off" };
const seen = (output: string, exitCode = 1, fields: Partial<SandboxProfile> = {}) =>
  violationWords({ sandbox: { ...sandbox, ...fields }, violations: [], exitCode, output });

describe("violationWords", () => {
  it("names the setting that governs what seems to have been refused", () => {
    expect(seen("touch: cannot touch '/x': Read-only file system")).toMatch(
      /only in \/ws.*sandbox\.allowWrite/,
    );
    expect(seen("Error: EROFS: read-only", 1, { write: [] })).toContain("nowhere, since it only reads");
    expect(seen("curl: (6) Could not resolve host: x")).toMatch(/have no network; sandbox\.network\.allow/);
    const network = { allow: ["a.example"], deny: [] };
    expect(seen("getaddrinfo ENOTFOUND x", 1, { network })).toContain("reach only a.example");
    expect(seen("cat: .env: Permission denied")).toContain("may be the sandbox");
  });

  it("names it for what rules have refused too, which is no read-only file system", () => {
    const told = (output: string, fields: Partial<SandboxProfile> = {}) =>
      violationWords({
        sandbox: { ...sandbox, ...fields },
        kind: "landlock",
        violations: [],
        exitCode: 1,
        output,
      });
    expect(told("touch: cannot touch '/x': Permission denied")).toMatch(
      /only in \/ws.*\$TMPDIR.*sandbox\.allowWrite/,
    );
    expect(told("getaddrinfo ENOTFOUND x", { network: { allow: ["a.example"], deny: [] } })).toMatch(
      /have no network/,
    );
  });

  it("is silent where nothing failed, nothing looks like it, or nothing was confined", () => {
    expect(seen("Permission denied", 0)).toBeNull();
    expect(seen("1 test failed")).toBeNull();
    const outside = { sandbox: null, violations: ["x"], exitCode: 1, output: "Read-only file system" };
    expect(violationWords(outside)).toBeNull();
  });

  it("tells what the sandbox itself has seen whatever the status", () => {
    const words = violationWords({
      sandbox,
      violations: ["network: b:443 is not allowed"],
      exitCode: 0,
      output: "",
    });
    expect(words).toBe("[sandbox] network: b:443 is not allowed");
  });
});
