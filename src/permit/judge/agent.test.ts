import { expect, test } from "vitest";
import { asPid } from "../../abi/ids.ts";
import type { PermissionMode } from "../../abi/process.ts";
import { makePermit } from "../policy.ts";

function decided(rules: Record<string, "allow" | "ask" | "deny">, mode: PermissionMode, tool = "agent") {
  const permit = makePermit({
    rules: Object.entries(rules).map(([text, behavior]) => ({ source: "userSettings", behavior, text })),
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: [],
    realPath: (path) => path,
  });
  const subject = { pid: asPid(1), mode, cwd: "/ws", roots: ["/ws"], allowedDevices: null, grants: [] };
  const effects = [{ kind: "spawn", program: "explore", background: false }] as const;
  return permit.decide(subject, { tool, effects, readOnly: tool === "agent" }).behavior;
}

test("an agent starts without a question in every mode: its own calls are judged one by one", () => {
  for (const mode of ["plan", "dont_ask", "default", "accept_edits", "auto", "bypass"] as const)
    expect(decided({}, mode), mode).toBe("allow");
  // whatever else starts processes asks, as ever
  expect(decided({}, "default", "supervise")).toBe("ask");
});

test("a rule that names the agent refuses it or asks, whatever the case of the name", () => {
  for (const text of ["agent(explore)", "Agent(Explore)", "agent", "Task(EXPLORE)"])
    expect(decided({ [text]: "deny" }, "bypass"), text).toBe("deny");
  expect(decided({ "agent(explore)": "ask" }, "default")).toBe("ask");
  expect(decided({ "agent(plan)": "deny" }, "default")).toBe("allow");
});

test("an agent that follows a skill starts likewise, and is refused by the rules for agents", () => {
  expect(decided({}, "default", "skill")).toBe("allow");
  for (const text of ["agent(explore)", "Agent(Explore)", "agent"])
    expect(decided({ [text]: "deny" }, "bypass", "skill"), text).toBe("deny");
  expect(decided({ "agent(explore)": "ask" }, "default", "skill")).toBe("ask");
});
