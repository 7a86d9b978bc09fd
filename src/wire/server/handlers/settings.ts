/** Reads and changes the settings. */
import { Fault } from "../../../abi/errors.ts";
import type { SettingsDesk } from "../../../kernel/ports/settings.ts";
import type { ServerDeps } from "../deps.ts";
import type { Handler } from "../handler.ts";

export const settingsList: Handler<"settings.list"> = async ({ cwd, key }, { deps }) => {
  const { settings, problems } = deskOf(deps).list(cwd, key);
  return { payload: { settings: settings.map((each) => ({ ...each })), problems: [...problems] } };
};

export const settingsSet: Handler<"settings.set"> = async ({ cwd, destination, key, value }, { deps }) => ({
  payload: await deskOf(deps).set(cwd, destination, { key, value }),
});

function deskOf({ settings }: ServerDeps): SettingsDesk {
  if (settings !== undefined) return settings;
  throw new Fault({ code: "UNAVAILABLE", message: "this daemon reads no settings" });
}
