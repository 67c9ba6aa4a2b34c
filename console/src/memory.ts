/** What the browser keeps for the next visit. If it keeps nothing (private windows), the page works without. */

const PREFIX = 'hoplite.';

export function recall<Value>(name: string, otherwise: Value): Value {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : (JSON.parse(text) as Value);
  } catch {
    return otherwise;
  }
}

export function remember(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Full or forbidden: only the stored value is lost.
  }
}
