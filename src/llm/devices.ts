/** Makes all model drivers as devices. Mount each at /dev/llm/<name>. */
import { resolve } from "node:path";
import type { Device } from "../abi/device.ts";
import type { Effect } from "../abi/effects.ts";
import type { Clock } from "../abi/program.ts";
import type { HostExec } from "../kernel/ports/host.ts";
import { ANTHROPIC_ENV, AnthropicDriver } from "./anthropic/anthropic.ts";
import { ClaudeDriver } from "./claude/claude.ts";
import type { Driver, DriverCaller } from "./driver.ts";
import { ModelFile } from "./file.ts";
import { InterpreterDriver } from "./interpreter/interpreter.ts";
import { KnownMessages } from "./known-messages.ts";
import { OpenAiDriver } from "./openai/openai.ts";
import { OLLAMA_ENV, OPENAI_ENV, ollamaProfile, openaiProfile } from "./openai/profile.ts";
import { DriverPool } from "./pool.ts";
import type { Price } from "./prices.ts";
import { findPrice, type PriceSettings } from "./prices.ts";
import { Places, ScriptDriver } from "./script/script.ts";
import { patienceOf } from "./watchdog.ts";

interface ModelDevicesOptions {
  readonly exec: HostExec;
  /** A private folder: each attempt of the claude program gets its own folder below it, and removes it. */
  readonly tmpDir: string;
  readonly clock: Clock;
  /** Returns the prices of the current settings. */
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

/** A model driver as a device, to be mounted at /dev/llm/<driver>. `/<model>` below it names the model. */
interface LlmDeviceOptions {
  readonly name: string;
  /** `path`: the path below the device, without the leading slash. */
  readonly make: (caller: DriverCaller, path: string) => Driver;
  /**
   * The environment variables of an instance: callers with equal values share one. Absent: one driver per open file.
   */
  readonly envKeys?: readonly string[];
  /** The effects of opening a path, if the path is more than the name of a model. */
  readonly openEffects?: (path: string, cwd: string) => readonly Effect[];
  /** True if the server runs on this machine, where it may first have to load a model. */
  readonly isLocal?: boolean;
  /** The user's own price of a model; called each time. */
  readonly findPrice?: (id: string) => Price | undefined;
  readonly clock: Clock;
}

export function llmDevice(options: LlmDeviceOptions): Device {
  const { name, make, envKeys, openEffects, isLocal = false, findPrice, clock } = options;
  const device = `/dev/llm/${name}`;
  const pool = new DriverPool(make, envKeys);
  const known = new KnownMessages();
  return {
    name,
    traffic: "message",
    open: async (subpath, _flags, caller) => {
      const path = subpath.slice(1);
      const { driver, release } = await pool.lease(caller, path);
      await driver.prepare?.().catch(async (error: unknown) => {
        await release();
        throw error;
      });
      const model = openEffects === undefined ? path : "";
      const patience = patienceOf(caller.env, isLocal);
      const prices = findPrice === undefined ? {} : { findPrice };
      const { preview, uuid: process } = caller;
      const more = preview === undefined ? prices : { ...prices, preview };
      const common = { driver, device, model, patience, clock, known, process };
      return new ModelFile({ ...common, ...more, onClose: release });
    },
    openEffects: (subpath, _flags, caller) => openEffects?.(subpath.slice(1), caller.cwd) ?? [],
    stat: async () => ({ name, size: 0, isDevice: true, devicePath: device }),
    close: () => pool.close(),
  };
}
