import type { Message } from "../../abi/mail.ts";
import type { Call } from "./call.ts";

export const recv: Call<{ timeoutMs?: number }, Message> = {
  name: "Recv",
  args: () => ({}),
  run() {
    throw new Error("to be written");
  },
};
