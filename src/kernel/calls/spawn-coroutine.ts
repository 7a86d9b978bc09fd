/** SpawnCoroutine(): a body that starts at the first resume. */
import { SyscallError } from "../../abi/errors.ts";
import type { CoId } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";
import type { CoroutineBody } from "../process/coroutine.ts";
import { coroutinesOf } from "../process/coroutines.ts";

export const spawnCoroutine: Call<{ body: CoroutineBody }, CoId> = {
  name: "SpawnCoroutine",
  args: () => ({}),
  result: (id) => id,
  run(_core, self, { body }) {
    if (typeof body === "function") return coroutinesOf(self).spawn(body);
    const message = "the body of a coroutine is a function";
    throw new SyscallError({ syscall: "SpawnCoroutine", pid: self.pid, code: "INVALID", message });
  },
};
