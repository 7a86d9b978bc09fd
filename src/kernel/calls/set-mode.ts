/** SetMode(mode): another permission mode for the caller itself. To lower it is free; to raise it asks a person. */
import type { Effect } from "../../abi/effects.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";
import type { Call } from "../gate/call.ts";
import { invalid } from "../gate/errors.ts";
import { guard } from "../gate/guard.ts";
import { isAbove } from "../process/narrow.ts";
import { setMode as change, checkRaise } from "../process/set-mode.ts";

export const setMode: Call<{ mode: PermissionMode }, void> = {
  name: "SetMode",
  holds: true,
  args: ({ mode }) => ({ mode }),
  async run(core, self, { mode }, pass) {
    if (!PERMISSION_MODES.includes(mode)) throw invalid("SetMode", self, `no permission mode: ${mode}`, "");
    const by = { principal: `process:${self.pid}`, client: "", uid: null, isPerson: false };
    const act = (): Promise<void> => change(core, self, mode, by);
    const isRaised = isAbove(mode, self.mode);
    if (isRaised) checkRaise(core, self, mode, false);
    // a tool changes it only if it said so
    if (!isRaised && pass.scope === null) return act();
    const effects: readonly Effect[] = [{ kind: "mode", to: mode }];
    const at = {
      syscall: "SetMode",
      device: "",
      tool: "mode",
      input: mode,
      effectClass: "internal",
    } as const;
    return guard(core, self, { ...at, effects }, pass, act, () => undefined);
  },
};
