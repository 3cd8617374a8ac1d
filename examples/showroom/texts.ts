/** What people write on a Monday. One of them cannot be read. */
const texts = [
  "The new tram line is open. I was at work in eleven minutes.",
  "You are always wrong about bicycles, and you know it.",
  "Cheap watches, real gold, click here before midnight!",
  "Does anybody have the recipe of the soup from the street party?",
  "My doctor says that carrots cure everything. Eat carrots.",
  "Found: one glove, left, green, by the fountain.",
  "Whoever parks like that is an idiot.",
  "The library is closed on Thursday, they repair the roof.",
  "You are the winner of a free holiday. Send your address.",
  "I never liked the old bridge, and I will miss it.",
  "The choir looks for two tenors. We rehearse on Tuesdays.",
  "This text was stored as something el\u{FFFD}e and sent as something \u{FFFD}lse.",
  "What a stupid place for a traffic light.",
  "Thank you to the bus driver who waited this morning.",
  "Our cat is back! She was in the neighbour's cellar.",
  "The mayor is wrong about the market, here are the numbers.",
] as const;

const authors = ["ada", "edsger", "grace", "linus", "barbara", "donald", "frances", "niklaus"] as const;

export function textOf(number: number): { author: string; text: string } {
  return { author: authors[(number * 5) % authors.length]!, text: texts[number % texts.length]! };
}
