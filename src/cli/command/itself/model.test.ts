import { expect, test } from "vitest";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux } from "../../testing/run-command.ts";

const FOUND = { driver: "anthropic", model: "claude-sonnet-5-5", why: "settings.json (model)" };
const LIST = {
  drivers: [
    { name: "anthropic", is_ready: true, remedy: "Set ANTHROPIC_API_KEY." },
    { name: "ollama", is_ready: false, remedy: "Start Ollama." },
  ],
  models: [
    {
      driver: "anthropic",
      id: "claude-x",
      short: "opus",
      context: 200000,
      price: { input: 1, output: 5 },
      is_ready: true,
    },
    { driver: "claude", id: "opus", short: "", context: 1000, price: null, is_ready: false },
  ],
};
const daemonOf = (answers: ConstructorParameters<typeof FakeDaemon>[0] = {}) =>
  new FakeDaemon({
    "model.resolve": () => FOUND,
    "model.list": () => LIST,
    "settings.set": () => ({ file: "/home/me/.config/crux/settings.json", changed: true }),
    ...answers,
  });

test("model tells which would answer and what says so, with the folder and environment of a run", async () => {
  const daemon = daemonOf();
  const { out, code } = await crux("model -m sonnet --agent none", { daemon, env: { A: "b" } });
  expect({ out, code }).toEqual({
    out: "anthropic/claude-sonnet-5-5\n  chosen by: settings.json (model)\n",
    code: 0,
  });
  expect(daemon.asked).toEqual([
    ["model.resolve", { cwd: "/home/me/project", env: { A: "b" }, model: "sonnet", agent: "none" }],
  ]);
  expect((await crux("model -q", { daemon: daemonOf() })).out).toBe("anthropic/claude-sonnet-5-5\n");
  expect(JSON.parse((await crux("model --json", { daemon: daemonOf() })).out)).toEqual({
    ok: true,
    data: FOUND,
  });
});

test("model list shows drivers with their remedies and models with context and price, unknown where it is", async () => {
  expect((await crux("model list", { daemon: daemonOf() })).out).toBe(`DRIVER      STATE        REMEDY
─────────   ──────────   ─────────────
anthropic   ready        -
ollama      not set up   Start Ollama.

MODEL                SHORT   CONTEXT     INPUT    OUTPUT   STATE
──────────────────   ─────   ───────   ───────   ───────   ──────────
anthropic/claude-x   opus     200000     $1.00     $5.00   ready
claude/opus          -          1000   unknown   unknown   not set up

Prices: US dollars per million tokens. A server of your own may have other models.
`);
  expect((await crux("model list -q", { daemon: daemonOf() })).out).toBe("anthropic/claude-x\nclaude/opus\n");
});

test("model set writes the user's setting, and says what stands before it", async () => {
  const daemon = daemonOf();
  const { out, code } = await crux("model set opus", { daemon, env: { CRUX_MODEL: "haiku" } });
  expect({ out, code }).toEqual({
    out: "model: set in /home/me/.config/crux/settings.json\n! CRUX_MODEL is set in this terminal and counts before it\n",
    code: 0,
  });
  expect(daemon.asked.at(-1)).toEqual([
    "settings.set",
    { cwd: "/home/me/project", destination: "userSettings", key: "model", value: "opus" },
  ]);
});

test("model set writes what is not set up yet and says so, and refuses a driver that does not exist", async () => {
  const failing = (code: "UNAVAILABLE" | "NOT_FOUND") =>
    daemonOf({
      "model.resolve": () => {
        throw new WireFault({ code, message: "no such" });
      },
    });
  const absent = await crux("model set opus", { daemon: failing("UNAVAILABLE") });
  expect([absent.code, absent.out]).toEqual([0, expect.stringContaining("model: set")]);
  expect(absent.err).toContain("no such");
  const unknown = failing("NOT_FOUND");
  expect((await crux("model set opas/x", { daemon: unknown })).code).toBe(1);
  expect(unknown.asked.map(([method]) => method)).not.toContain("settings.set");
});

test.each(["model nope", "model set", "model set a b", "model list x", "model list --agent none"])(
  "crux %s is refused",
  async (line) => {
    expect((await crux(line, { daemon: daemonOf() })).code).toBe(1);
  },
);

test("model <pid> warns of a model that no table has", async () => {
  const note = "no table has lagre (near: large)";
  const daemon = daemonOf({ "process.model": () => ({ ...CHOSEN, note }) });
  const { out } = await crux("model 3 openai/lagre", { daemon });
  expect(out).toBe(`[kernel] PID 3: openai/lagre answers from the next run on\n! ${note}\n`);
});
const CHOSEN = { pid: 3, driver: "openai", model: "lagre", from: "run" };
