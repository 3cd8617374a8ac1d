/** Drawn on 16 by 16, in the colour of the text around. */
const paths = {
  overview: "M2 2h5v5H2zM9 2h5v3H9zM9 7h5v7H9zM2 9h5v5H2z",
  instances: "M2 4h12M2 8h12M2 12h8",
  dead: "M8 1.5 15 14H1zM8 6v4M8 12v.2",
  people:
    "M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 14c0-3 2-4.5 4.5-4.5s4.5 1.5 4.5 4.5M11 3a2.4 2.4 0 0 1 0 4.4M12 9.6c1.7.5 2.5 2 2.5 4.4",
  crowds: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c4 4 4 8 0 12M8 2C4 6 4 10 8 14",
  workers: "M3 3h10v4H3zM3 9h10v4H3zM5.5 5h.2M5.5 11h.2",
  breakers: "M9 1.5 3.5 9H8l-1 5.5L12.5 7H8z",
  outbox: "M2 9v4.5h12V9M2 9l2-6.5h8L14 9M2 9h3.5l1 2h3l1-2H14",
  schedules: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.5V8l2.5 1.5",
  operations: "M2 4h4M9 4h5M7.5 2.5v3M2 12h7M12 12h2M10.5 10.5v3M2 8h2M7 8h7M5.5 6.5v3",
  access: "M5.5 10.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8.5 7.5H14V10M11.5 7.5V9.5",
  desk: "M2 11.5V14h2.5L13 5.5 10.5 3zM9 4.5 11.5 7",
  docs: "M3 2h7l3 3v9H3zM10 2v3h3M5.5 8h5M5.5 11h5",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5 14 14",
  sun: "M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  moon: "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z",
  system: "M2 3h12v8H2zM6 14h4M8 11v3",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.5V8l2.5 1.5",
  more: "M3.5 8h.2M8 8h.2M12.5 8h.2",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  down: "M4 6l4 4 4-4",
  lifecycle: "M3.5 5.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM12.5 14.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM5.5 3.5h5a2 2 0 0 1 2 2v5",
  back: "M9.5 3.5 5 8l4.5 4.5",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
