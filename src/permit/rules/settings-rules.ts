import { outwardRule } from "../../abi/labels.ts";
import type { RuleSource, RuleText } from "../../abi/rules.ts";
import type { Settings } from "../../abi/settings/settings.ts";

/** The rules of one settings file. Dropped defaults count only from user settings, which makePermit enforces. */
export function rulesFromSettings(settings: Settings, source: RuleSource): readonly RuleText[] {
  const { allow = [], ask = [], deny = [], drop_defaults = [] } = settings.permissions ?? {};
  const rules = (behavior: RuleText["behavior"], texts: readonly string[]) =>
    texts.map((text): RuleText => ({ source, behavior, text }));
  const outward = settings.labels?.outward;
  const outwards = Array.isArray(outward) ? outward.map(outwardRule) : [];
  return [
    ...rules("deny", deny),
    ...rules("ask", ask),
    ...rules("allow", allow),
    ...rules("allow", outwards),
    ...rules("drop", drop_defaults),
  ];
}
