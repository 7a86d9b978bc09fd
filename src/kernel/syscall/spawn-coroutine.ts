import type { CoId } from "../../abi/ids.ts";
import type { CoroutineHandle } from "../../abi/sys.ts";
import type { Call } from "./call.ts";

export type CoroutineBody = (co: CoroutineHandle<unknown, unknown>, first: unknown) => Promise<unknown>;

export const spawnCoroutine: Call<{ body: CoroutineBody }, CoId> = {
  name: "SpawnCoroutine",
  args: () => ({}),
  run() {
    throw new Error("to be written");
  },
};
