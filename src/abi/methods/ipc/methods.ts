/**
 * The methods of the kernel IPC chapter. They are part of the registry, like those of methods.ts. Both wires offer all:
 * where the two groups have the same name, the text wire means the other one and the binary wire this one.
 */
import type * as z from "zod";
import { METHODS, type MethodName } from "../methods.ts";
import { IPC_DEVICE_METHODS } from "./device.ts";
import { IPC_EVENT_METHODS } from "./events.ts";
import { IPC_INTENT_METHODS } from "./intents.ts";
import { IPC_KERNEL_METHODS } from "./kernel.ts";
import { IPC_PROCESS_METHODS } from "./process.ts";
import type { IpcMethodSpec } from "./spec.ts";

export const IPC_METHODS = {
  ...IPC_KERNEL_METHODS,
  ...IPC_PROCESS_METHODS,
  ...IPC_DEVICE_METHODS,
  ...IPC_EVENT_METHODS,
  ...IPC_INTENT_METHODS,
} as const satisfies Record<string, IpcMethodSpec>;

export type IpcMethodName = keyof typeof IPC_METHODS;
export type IpcParams<M extends IpcMethodName> = z.infer<(typeof IPC_METHODS)[M]["params"]>;
export type IpcResult<M extends IpcMethodName> = z.infer<(typeof IPC_METHODS)[M]["result"]>;

export function isIpcMethod(name: string): name is IpcMethodName {
  return Object.hasOwn(IPC_METHODS, name);
}

/** All names that the binary wire knows. */
export const FRAME_METHODS: readonly (IpcMethodName | MethodName)[] = [
  ...new Set([...Object.keys(IPC_METHODS), ...Object.keys(METHODS)]),
] as (IpcMethodName | MethodName)[];
