/** CancelCoroutine(id): idempotent. Its body hears CANCELLED where it waits. */
import type { CoId } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";
import { coroutinesOf } from "../process/coroutines.ts";

export const cancelCoroutine: Call<{ id: CoId }, void> = {
  name: "CancelCoroutine",
  args: ({ id }) => ({ id }),
  run: (_core, self, { id }) => coroutinesOf(self).cancel(id),
};
