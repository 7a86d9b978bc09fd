import { asPid } from "../../../abi/ids.ts";
import type { Handler } from "../handler.ts";

export const mailSend: Handler<"mail.send"> = async (params, call) => {
  const { kernel, gone } = call;
  const pid = asPid(params.pid);
  await call.repeats.once(
    "mail.send",
    params,
    call,
    async (marked) => void (await kernel.init.send(pid, Buffer.from(params.text), gone, marked)),
    async () => {},
  );
  return { payload: undefined };
};
