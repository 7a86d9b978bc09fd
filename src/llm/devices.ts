/** All model drivers as devices. Mount each at /dev/llm/<name>. */
import { resolve } from "node:path";
import type { Device } from "../abi/device.ts";
import type { Clock } from "../abi/program.ts";
import type { HostExec } from "../kernel/ports/host.ts";
import { ANTHROPIC_ENV, AnthropicDriver } from "./anthropic/anthropic.ts";
import { ClaudeDriver } from "./claude/claude.ts";
import { llmDevice } from "./device.ts";
import { InterpreterDriver } from "./interpreter/interpreter.ts";
import { OpenAiDriver } from "./openai/openai.ts";
import { OLLAMA_ENV, OPENAI_ENV, ollamaProfile, openaiProfile } from "./openai/profile.ts";
import { findPrice, type PriceSettings } from "./prices.ts";
import { Places, ScriptDriver } from "./script/script.ts";

interface ModelDevicesOptions {
  readonly exec: HostExec;
  /** A private folder: each attempt of the claude program gets one of its own below it, and leaves none behind. */
  readonly tmpDir: string;
  readonly clock: Clock;
  /** As the settings have them now. */
  readonly prices?: () => PriceSettings;
}

export function modelDevices({ exec, tmpDir, clock, prices }: ModelDevicesOptions): readonly Device[] {
  const own = { clock, findPrice: (id: string) => findPrice(prices?.() ?? {}, id) };
  const places = new Places();
  return [
    llmDevice({
      name: "anthropic",
      ...own,
      envKeys: ANTHROPIC_ENV,
      make: ({ env }) => new AnthropicDriver(env),
    }),
    llmDevice({
      name: "openai",
      ...own,
      envKeys: OPENAI_ENV,
      make: ({ env }) => new OpenAiDriver(openaiProfile(env)),
    }),
    llmDevice({
      name: "ollama",
      ...own,
      isLocal: true,
      envKeys: OLLAMA_ENV,
      make: ({ env }) => new OpenAiDriver(ollamaProfile(env)),
    }),
    llmDevice({ name: "claude", ...own, make: (caller) => new ClaudeDriver(caller, exec, tmpDir) }),
    llmDevice({ name: "interpreter", ...own, make: (caller) => new InterpreterDriver(caller) }),
    llmDevice({
      name: "script",
      ...own,
      make: (caller, path) => new ScriptDriver(caller, path, places, clock),
      openEffects: (path, cwd) => (path === "" ? [] : [{ kind: "read", path: resolve(cwd, path) }]),
    }),
  ];
}
