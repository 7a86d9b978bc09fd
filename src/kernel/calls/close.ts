/** Close(fd): the fd leaves the table first; then the device's close. A second call is NOT_FOUND. */
import type { Fd } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";
import { vfsError } from "../gate/errors.ts";

export const close: Call<{ fd: Fd }, void> = {
  name: "Close",
  args: ({ fd }) => ({ fd }),
  async run(_core, self, { fd }, pass) {
    const entry = self.fds.find(fd, "Close");
    pass.trace.device = entry.path;
    try {
      await self.fds.close(fd);
    } catch (error) {
      throw vfsError("Close", self, entry.path, error, pass.signal);
    }
  },
};
