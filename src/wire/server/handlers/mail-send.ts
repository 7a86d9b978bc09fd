import { asPid } from "../../../abi/ids.ts";
import type { Handler } from "../handler.ts";

export const mailSend: Handler<"mail.send"> = async ({ pid, text }, { kernel, gone }) => {
  await kernel.init.send(asPid(pid), Buffer.from(text), gone);
  return { payload: undefined };
};
