/** A program of the host as a process: its own process group, its output on disk, its end with its owner. */
import type { NativeOptions } from "../../abi/native.ts";
import type { Body } from "./body.ts";

/** Errors: INVALID argv; NOT_FOUND program or working directory, before the process exists. */
export function nativeBody(_argv: readonly string[], _options: NativeOptions): Body {
  throw new Error("to be written");
}
