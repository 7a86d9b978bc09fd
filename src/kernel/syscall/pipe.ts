import type { Fd, Pid } from "../../abi/ids.ts";
import type { Call } from "./call.ts";

export const pipe: Call<{ writer: Pid; reader: Pid }, { writeFd: Fd; readFd: Fd }> = {
  name: "Pipe",
  args: ({ reader, writer }) => ({ reader, writer }),
  run() {
    throw new Error("to be written");
  },
};
