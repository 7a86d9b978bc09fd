import type { Pid } from "../../abi/ids.ts";
import type { Call } from "./call.ts";

export const send: Call<{ pid: Pid; data: Uint8Array }, void> = {
  name: "Send",
  holds: true,
  args: ({ pid, data }) => ({ pid, size: data.byteLength }),
  run() {
    throw new Error("to be written");
  },
};
