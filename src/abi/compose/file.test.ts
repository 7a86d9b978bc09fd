import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fault } from "../errors.ts";
import type { ComposeProject } from "./compose.ts";
import { parseComposeFile } from "./file.ts";

const dir = "/desk/notes";
const parse = (raw: unknown, project?: string): ComposeProject => parseComposeFile(raw, { dir, project });

/** The text of the refusal, with its hint. */
function refusal(raw: unknown, project?: string): string {
  try {
    parse(raw, project);
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    const { code, message, hint } = error as Fault;
    expect(code).toBe("INVALID");
    return hint === undefined ? message : `${message} (${hint})`;
  }
  return "none";
}

const agent = { intent: "draft" };
const command = { command: ["git", "log"] };
const service = (entry: object) => refusal({ services: { writer: { ...agent, ...entry }, log: command } });

const SAMPLE = {
  name: "notes",
  budget: { tokens: 200_000, usd: 2 },
  services: {
    collector: { command: ["git", "log", "--oneline", "HEAD~20.."] },
    writer: {
      agent: "writer",
      intent: "Draft release notes from the log you are given",
      model: "sonnet",
      budget: { tokens: 50_000 },
      group: "authors",
      depends_on: { collector: { condition: "completed" } },
      restart: "transient",
    },
  },
  pipes: [{ from: "collector", to: "writer" }],
};

describe("parseComposeFile()", () => {
  test("gives the sample with its defaults", () => {
    const common = { maxSteps: 0, timeoutMs: 0, cwd: dir, env: {}, replicas: 1, shutdownMs: 5_000 };
    expect(parse(SAMPLE)).toEqual({
      name: "notes",
      budgetTokens: 200_000,
      budgetUsd: 2,
      intensity: { maxRestarts: 5, windowMs: 60_000 },
      backoff: { initialMs: 1_000, factor: 2, maxMs: 30_000, jitter: 0.1 },
      services: [
        {
          name: "collector",
          program: { kind: "native", command: ["git", "log", "--oneline", "HEAD~20.."] },
          budgetTokens: 0,
          dependsOn: {},
          restart: "temporary",
          ...common,
        },
        {
          name: "writer",
          program: {
            kind: "agent",
            agent: "writer",
            intent: "Draft release notes from the log you are given",
          },
          model: "sonnet",
          budgetTokens: 50_000,
          group: "authors",
          dependsOn: { collector: "completed" },
          restart: "transient",
          ...common,
        },
      ],
      pipes: [{ from: "collector", to: "writer", stream: "stdout" }],
      messages: true,
    } satisfies ComposeProject);
  });

  test("takes every key", () => {
    const project = parse({
      intensity: { max_restarts: 1 },
      backoff: { initial_ms: "5", jitter: 0 },
      services: {
        web: {
          command: ["serve"],
          cwd: "../site",
          env: { PORT: "80" },
          ready: { stdout: "^up", timeout_ms: 9 },
          replicas: "3",
          restart: "permanent",
          shutdown_ms: 0,
          timeout_ms: 7,
        },
        writer: {
          ...agent,
          model: "m",
          system_prompt: "s",
          max_steps: 4,
          permission_mode: "accept_edits",
          ready: { timeout_ms: 8 },
          depends_on: ["web"],
        },
      },
      pipes: [
        { from: "web", to: "writer", stream: "stderr" },
        { from: "writer", to: "sink" },
      ].slice(0, 1),
    });
    expect(project).toMatchObject({
      name: "notes",
      intensity: { maxRestarts: 1, windowMs: 60_000 },
      backoff: { initialMs: 5, factor: 2, maxMs: 30_000, jitter: 0 },
      services: [
        {
          cwd: "/desk/site",
          env: { PORT: "80" },
          ready: { kind: "stdout", pattern: "^up", timeoutMs: 9 },
          replicas: 3,
          restart: "permanent",
          shutdownMs: 0,
          timeoutMs: 7,
        },
        {
          model: "m",
          systemPrompt: "s",
          maxSteps: 4,
          permissionMode: "accept_edits",
          ready: { kind: "step", timeoutMs: 8 },
          dependsOn: { web: "started" },
        },
      ],
      pipes: [{ from: "web", to: "writer", stream: "stderr" }],
    });
  });

  test("reads the conditions of other systems as its own", () => {
    const given = {
      a: { condition: "service_started" },
      b: { condition: "service_healthy" },
      c: { condition: "service_completed_successfully" },
      d: {},
    };
    const { services } = parse({
      services: { w: { ...agent, depends_on: given }, a: agent, b: agent, c: agent, d: agent },
    });
    expect(services[0]!.dependsOn).toEqual({ a: "started", b: "ready", c: "completed", d: "started" });
  });

  test("an agent that others wait for is ready after its first step, in a minute", () => {
    const { services } = parse({
      services: { w: agent, x: agent, y: { ...agent, depends_on: { w: { condition: "ready" } } } },
    });
    expect(services.map(({ ready }) => ready)).toEqual([
      { kind: "step", timeoutMs: 60_000 },
      undefined,
      undefined,
    ]);
  });

  test("an agent without a name is the one that crux runs without --agent", () => {
    const { services } = parse({ services: { a: { intent: "x" } } });
    expect(services[0]?.program).toEqual({ kind: "agent", agent: "general-purpose", intent: "x" });
  });

  test("an agent pipes its result", () => {
    const { pipes } = parse({ services: { w: agent, c: command }, pipes: [{ from: "w", to: "c" }] });
    expect(pipes).toEqual([{ from: "w", to: "c", stream: "result" }]);
  });

  test("the name: -p, the file's, the directory's", () => {
    expect(parse({ ...SAMPLE, name: "other" }, "mine").name).toBe("mine");
    expect(parse({ ...SAMPLE, name: "other" }).name).toBe("other");
    expect(parse({ services: { w: agent } }).name).toBe("notes");
    expect(refusal(SAMPLE, "My Notes")).toBe(
      "project name My Notes: must be small letters, digits, _ and -, a letter first, at most 64 characters",
    );
  });

  test("a name that objects have anyway is a name like any other", () => {
    const { services } = parse({
      services: { constructor: agent, w: { ...agent, depends_on: ["constructor"] } },
    });
    expect(services[0]!.name).toBe("constructor");
    expect(service({ depends_on: ["toString"] })).toBe(
      "services.writer.depends_on: unknown service toString",
    );
  });
});

describe("parseComposeFile() refuses", () => {
  test.each<[refused: string, raw: unknown]>([
    ["compose file: is empty", null],
    ["compose file: must be a mapping", []],
    ["services: is missing", {}],
    ["services: is empty", { services: null }],
    ["services: needs at least one service", { services: {} }],
    ["services.a: is empty", { services: { a: null } }],
    ["services.a b: must be letters, digits, `.`, `_` and `-`, at most 60", { services: { "a b": agent } }],
    ["services.a.intent: is missing (or give it a command)", { services: { a: { agent: "writer" } } }],
    ["service: unknown key (did you mean services?)", { service: {}, services: { a: agent } }],
    [
      "name: must be small letters, digits, `_` and `-`, a letter first, at most 64",
      { name: "My Notes", services: { a: agent } },
    ],
    ['name: must be text: write "2024" in quotes', { name: 2024, services: { a: agent } }],
    [
      "intensity.max_restart: unknown key (did you mean max_restarts?)",
      { ...SAMPLE, intensity: { max_restart: 1 } },
    ],
    ["backoff.jitter: must be at most 1", { ...SAMPLE, backoff: { jitter: 1.5 } }],
    [
      "services: 1024 replicas in all; at most 1000",
      {
        services: Object.fromEntries(
          Array.from({ length: 16 }, (_, at) => [`s${at}`, { ...agent, replicas: 64 }]),
        ),
      },
    ],
  ])("%s", (refused, raw) => {
    expect(refusal(raw)).toBe(refused);
  });

  test.each<[refused: string, entry: object]>([
    ["agnt: unknown key (did you mean agent?)", { agnt: "x" }],
    [
      "healthcheck: unknown key (ready says when a service is ready: `ready: { stdout: <pattern> }` for a command)",
      { healthcheck: { test: ["CMD", "true"] } },
    ],
    ["intent: not beside command: a service is an agent or a program", { command: ["x"] }],
    ["env: only a command has one", { env: { A: "b" } }],
    ["env.A=B: is not a name of a variable", { env: { "A=B": "c" } }],
    ['env.PORT: must be text: write "80" in quotes', { env: { PORT: 80 } }],
    ["command[0]: is missing", { command: [] }],
    ['command[1]: must be text: write "60" in quotes', { command: ["sleep", 60] }],
    ["command[1]: must not hold a NUL character", { command: ["x", "a\0b"] }],
    ["command: must be a list", { command: "sleep 60" }],
    ["intent: must not be empty", { intent: "" }],
    ["timeout_ms: must be a number", { timeout_ms: "30s" }],
    ["timeout_ms: must be at least 0", { timeout_ms: -1 }],
    ["timeout_ms: must be at most 2147483647", { timeout_ms: 2 ** 31 }],
    ["shutdown_ms: must be a whole number", { shutdown_ms: 1.5 }],
    ["replicas: must be at least 1", { replicas: 0 }],
    ["replicas: must be at most 64", { replicas: 65 }],
    ["restart: must be one of temporary, transient, permanent", { restart: "always" }],
    [
      "permission_mode: must be one of plan, dont_ask, default, accept_edits, auto, bypass",
      { permission_mode: "yolo" },
    ],
    ["group: at most 64 characters", { group: "g".repeat(65) }],
    ["budget.usd: must be more than 0", { budget: { tokens: 1, usd: 0 } }],
    ["depends_on: must be a list or a mapping", { depends_on: "log" }],
    ['depends_on[0]: must be text: write "3" in quotes', { depends_on: [3] }],
    ["depends_on.log.when: unknown key", { depends_on: { log: { when: "ready" } } }],
    [
      "depends_on.log.condition: must be one of started, ready, completed, service_started, service_healthy, service_completed_successfully",
      { depends_on: { log: { condition: "done" } } },
    ],
    ["depends_on: unknown service logs (did you mean log?)", { depends_on: ["logs"] }],
    [
      "depends_on: log never reports that it is ready (give it services.log.ready.stdout, or use started or completed)",
      { depends_on: { log: { condition: "ready" } } },
    ],
    ["depends_on: cycle writer → writer", { depends_on: ["writer"] }],
    [
      "ready.stdout: only a command has one; an agent is ready after its first step",
      { ready: { stdout: "x" } },
    ],
    ["ready.stdout: is not a regular expression", { ready: { stdout: "(" } }],
  ])("services.writer.%s", (refused, entry) => {
    expect(service(entry)).toBe(`services.writer.${refused}`);
  });

  test("what only the other kind of service has", () => {
    for (const [key, value] of [
      ["model", "m"],
      ["system_prompt", "s"],
      ["max_steps", 3],
    ] as const)
      expect(refusal({ services: { log: { ...command, [key]: value } } })).toBe(
        `services.log.${key}: not beside command: a service is an agent or a program`,
      );
    expect(refusal({ services: { log: { ...command, ready: {} } } })).toBe(
      "services.log.ready.stdout: is missing (a pattern that a line of its stdout matches)",
    );
  });

  test.each<[refused: string, pipes: unknown]>([
    ["pipes: must be a list", {}],
    ["pipes[0].to: is missing", [{ from: "log" }]],
    ["pipes[0].too: unknown key (did you mean to?)", [{ from: "log", to: "w", too: 1 }]],
    ["pipes[0].from: unknown service lag (did you mean log?)", [{ from: "lag", to: "w" }]],
    [
      "pipes[1].to: unknown service x",
      [
        { from: "log", to: "w" },
        { from: "log", to: "x" },
      ],
    ],
    ["pipes[0].to: many has 2 replicas; a pipe has one reader", [{ from: "log", to: "many" }]],
    [
      "pipes[0].stream: log has no result (a command has stdout and stderr, an agent its result)",
      [{ from: "log", to: "w", stream: "result" }],
    ],
    [
      "pipes[0].stream: w has no stdout (a command has stdout and stderr, an agent its result)",
      [{ from: "w", to: "log", stream: "stdout" }],
    ],
    [
      "pipes[1]: the same as pipes[0]",
      [
        { from: "log", to: "w" },
        { from: "log", to: "w", stream: "stdout" },
      ],
    ],
    ["pipes[0]: cycle w → w", [{ from: "w", to: "w" }]],
  ])("%s", (refused, pipes) => {
    expect(refusal({ services: { log: command, w: agent, many: { ...agent, replicas: 2 } }, pipes })).toBe(
      refused,
    );
  });

  test("cycles, in the words of the chapter", () => {
    const { collector, writer } = SAMPLE.services;
    const looped = { collector: { ...collector, depends_on: ["writer"] }, writer };
    expect(refusal({ ...SAMPLE, services: looped })).toBe(
      "services.writer.depends_on: cycle writer → collector → writer",
    );
    // a dependency one way and a pipe the other
    expect(
      refusal({
        services: { a: agent, b: { ...agent, depends_on: ["a"] } },
        pipes: [{ from: "b", to: "a" }],
      }),
    ).toBe("services.b.depends_on: cycle b → a → b");
    const flow = (from: string, to: string) => ({ from, to });
    const services = { a: agent, b: agent, c: agent };
    expect(refusal({ services, pipes: [flow("a", "b"), flow("b", "c"), flow("c", "a")] })).toBe(
      "pipes[0]: cycle a → b → c → a",
    );
  });
});

describe("property", () => {
  const names = Array.from({ length: 6 }, (_, at) => `s${at}`);
  const edges = fc.uniqueArray(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...names)), {
    maxLength: 6,
    selector: (edge) => edge.join(" "),
  });
  const anyFile = fc.record({
    dependsOn: edges.map((all) =>
      names.map((name) => all.filter(([from]) => from === name).map(([, to]) => to)),
    ),
    pipes: edges.map((all) => all.slice(0, 3).map(([from, to]) => ({ from, to }))),
  });

  test("a cycle of dependencies and pipes is refused, and nothing else", () => {
    const seen = { cycle: 0, none: 0 };
    fc.assert(
      fc.property(anyFile, ({ dependsOn, pipes }) => {
        const services = Object.fromEntries(
          names.map((name, at) => [name, { ...agent, depends_on: dependsOn[at] }]),
        );
        const waitsFor = (name: string): string[] => [
          ...dependsOn[names.indexOf(name)]!,
          ...pipes.filter(({ to }) => to === name).map(({ from }) => from),
        ];
        const refused = refusal({ services, pipes });
        if (reachesItself(names, waitsFor)) {
          seen.cycle++;
          const shown = /^(?:services\.s\d\.depends_on|pipes\[\d\]): cycle (.+)$/
            .exec(refused)![1]!
            .split(" → ");
          if (refused.startsWith("pipes") && !isWay(shown, waitsFor)) shown.reverse();
          expect(isWay(shown, waitsFor)).toBe(true);
          expect(shown.at(-1)).toBe(shown[0]);
        } else {
          seen.none++;
          expect(refused).toBe("none");
        }
      }),
      { numRuns: 10_000 },
    );
    expect(Math.min(seen.cycle, seen.none)).toBeGreaterThan(500);
  });

  function isWay(names: readonly string[], waitsFor: (name: string) => string[]): boolean {
    return names.slice(1).every((name, at) => waitsFor(names[at]!).includes(name));
  }

  /** By what each can reach: not the way the code under test goes. */
  function reachesItself(all: readonly string[], waitsFor: (name: string) => string[]): boolean {
    return all.some((start) => {
      const reached = new Set(waitsFor(start));
      for (const name of reached) for (const next of waitsFor(name)) reached.add(next);
      return reached.has(start);
    });
  }

  test("whatever YAML can hold is a project or INVALID", () => {
    const key = fc.constantFrom(
      "name",
      "services",
      "pipes",
      "budget",
      "a",
      "intent",
      "command",
      "depends_on",
      "replicas",
      "from",
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.constantFrom(null, true, 3, -1, "a", ""),
        tie("list"),
        tie("map"),
      ),
      list: fc.array(tie("value"), { maxLength: 3 }),
      map: fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    }));
    fc.assert(
      fc.property(value, (raw) => {
        refusal(raw);
      }),
      { numRuns: 10_000 },
    );
  });
});
