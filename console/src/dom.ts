/** Elements of the page, built without markup in strings. */

type Child = Node | string | number | null | undefined | false;
type Props = Record<string, unknown>;

/** `h('button', { class: 'run', onclick: run }, 'Run')` */
export function h<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, props: Props = {}, ...children: (Child | Child[])[]): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  setProps(element, props);
  append(element, children);
  return element;
}

function setProps(element: HTMLElement | SVGElement, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value as EventListener);
    else if (name === 'value' || name === 'checked' || name === 'disabled' || name === 'hidden') (element as unknown as Props)[name] = value;
    else if (name.startsWith('--')) element.style.setProperty(name, String(value));
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

function append(parent: Element, children: (Child | Child[])[]): void {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(typeof child === 'object' ? child : String(child));
  }
}

/** Replace the content of `parent` by `children`. */
export function fill(parent: Element, ...children: (Child | Child[])[]): void {
  parent.replaceChildren();
  append(parent, children);
}

const ICONS = {
  run: 'M5 3.5v9l8-4.5z',
  stop: 'M4 4h8v8H4z',
  graph: 'M4 4.5a1.5 1.5 0 1 0 .01 0M12 3a1.5 1.5 0 1 0 .01 0M10 11a1.5 1.5 0 1 0 .01 0M5.5 5.5l7-1M5 7l4.5 4.5M12 6l-1.5 5',
  table: 'M2.5 3.5h11v9h-11zM2.5 6.5h11M6.5 3.5v9',
  json: 'M6 3C4 3 5 7 3 8c2 1 1 5 3 5M10 3c2 0 1 4 3 5-2 1-1 5-3 5',
  plan: 'M6 2.5h4v3H6zM2 10.5h4v3H2zM10 10.5h4v3h-4zM8 5.5V8M4 10.5V8h8v2.5',
  schema: 'M8 2.5l5 3v5l-5 3-5-3v-5zM8 2.5v11M3 5.5l10 5M13 5.5l-10 5',
  star: 'M8 2.5l1.7 3.5 3.8.5-2.8 2.7.7 3.8L8 11.2 4.6 13l.7-3.8L2.5 6.5 6.3 6z',
  format: 'M3 4h10M3 7h6M3 10h10M3 13h6',
  trash: 'M3.5 4.5h9M6.5 4.5v-2h3v2M4.5 4.5l.7 9h5.6l.7-9',
  moon: 'M12.5 9.5A5 5 0 0 1 6.5 3.5a5 5 0 1 0 6 6z',
  help: 'M6 6a2 2 0 1 1 2.7 1.9c-.5.2-.7.6-.7 1.1v.5M8 12v.2M8 1.7a6.3 6.3 0 1 0 .01 0',
  fit: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  export: 'M8 2.5v7M5 7l3 3 3-3M3 11v2.5h10V11',
  expand: 'M8 2.5v11M2.5 8h11M4.5 4.5l7 7M11.5 4.5l-7 7',
  hide: 'M2 8s2.5-4 6-4 6 4 6 4-2.5 4-6 4-6-4-6-4zM3 13L13 3',
} as const;
export type Icon = keyof typeof ICONS;

export function icon(name: Icon): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  setProps(svg, { viewBox: '0 0 16 16', class: 'icon', 'aria-hidden': 'true', focusable: 'false' });
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

/** A button with an icon; its text is shown, or only read out. */
export function button(words: string, options: { icon?: Icon; iconOnly?: boolean; class?: string; title?: string; onclick?: () => void }): HTMLButtonElement {
  return h(
    'button',
    {
      type: 'button', class: options.class ?? 'quiet', title: options.title ?? (options.iconOnly ? words : undefined),
      'aria-label': options.iconOnly ? words : undefined, onclick: options.onclick,
    },
    options.icon && icon(options.icon),
    !options.iconOnly && h('span', {}, words),
  );
}

/** A row of tabs: one is chosen, the arrow keys move between them. */
export class Tabs<Name extends string> {
  readonly element = h('div', { class: 'tabs', role: 'tablist' });
  private readonly buttons = new Map<Name, HTMLButtonElement>();
  chosen: Name;

  constructor(label: string, tabs: readonly { name: Name; words: string; icon?: Icon }[], private readonly onChoose: (name: Name) => void) {
    this.element.setAttribute('aria-label', label);
    this.chosen = tabs[0]!.name;
    for (const tab of tabs) {
      const element = button(tab.words, { icon: tab.icon, class: 'tab', onclick: () => this.choose(tab.name) });
      setProps(element, { role: 'tab', 'data-tab': tab.name });
      this.buttons.set(tab.name, element);
    }
    this.element.append(...this.buttons.values());
    this.element.addEventListener('keydown', (event) => this.move(event));
    this.mark();
  }

  choose(name: Name): void {
    this.chosen = name;
    this.mark();
    this.onChoose(name);
  }

  show(name: Name, shown: boolean): void {
    this.buttons.get(name)!.hidden = !shown;
  }

  private mark(): void {
    for (const [name, element] of this.buttons) {
      element.setAttribute('aria-selected', String(name === this.chosen));
      element.tabIndex = name === this.chosen ? 0 : -1;
    }
  }

  private move(event: KeyboardEvent): void {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const names = [...this.buttons.keys()].filter((name) => !this.buttons.get(name)!.hidden);
    const next = names[(names.indexOf(this.chosen) + step + names.length) % names.length]!;
    this.choose(next);
    this.buttons.get(next)!.focus();
    event.preventDefault();
  }
}

/** Announce something to screen readers. */
export function announce(words: string): void {
  let region = document.getElementById('announcements');
  if (!region) {
    region = h('div', { id: 'announcements', class: 'unseen', role: 'status', 'aria-live': 'polite' });
    document.body.append(region);
  }
  region.textContent = words;
}

/** Offer a file for download. */
export function download(name: string, content: Blob | string, type = 'text/plain'): void {
  const blob = typeof content === 'string' ? new Blob([content], { type: `${type};charset=utf-8` }) : content;
  const url = URL.createObjectURL(blob);
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
