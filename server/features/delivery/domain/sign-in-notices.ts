const days = (count: number) => count * 86_400;
const notice = { kind: "mail", lifeSeconds: days(7), isNotice: true } as const;

/** Notices of changes of the ways to sign in, to the verified address of the account (USR-14). */
export const signInNotices = {
  "address-replaced": {
    ...notice,
    params: { link: "link" },
    texts: {
      en: {
        subject: "Your email address was changed",
        paragraphs: [
          "Your {brand} account has another email address now. Until that one is confirmed, codes and links for a new password come to this address only.",
          "If it was not you, open this link:",
          "{link}",
          "It works once, within 7 days. It gives the account this address again, undoes later changes too, signs out every device, removes what was added since, and lets you set a new password.",
        ],
        action: "It was not me",
      },
      de: {
        subject: "Deine E-Mail-Adresse wurde geändert",
        paragraphs: [
          "Dein Konto bei {brand} hat jetzt eine andere E-Mail-Adresse. Bis sie bestätigt ist, kommen Codes und Links für ein neues Passwort nur an diese Adresse.",
          "Falls du es nicht warst, öffne diesen Link:",
          "{link}",
          "Er gilt einmal und 7 Tage lang. Er gibt dem Konto diese Adresse zurück, macht auch spätere Änderungen rückgängig, meldet alle Geräte ab, entfernt, was seither dazukam, und lässt dich ein neues Passwort setzen.",
        ],
        action: "Das war ich nicht",
      },
    },
  },
  "address-restored": {
    ...notice,
    params: {},
    texts: {
      en: {
        subject: "Your account has this address again",
        paragraphs: [
          "Your {brand} account has this email address again. Codes and links for a new password come to it.",
          "If somebody else had changed it, set a new password where you sign in.",
        ],
      },
      de: {
        subject: "Dein Konto hat wieder diese Adresse",
        paragraphs: [
          "Dein Konto bei {brand} hat wieder diese E-Mail-Adresse. Codes und Links für ein neues Passwort kommen an sie.",
          "Falls jemand anderes sie geändert hatte, setze bei der Anmeldung ein neues Passwort.",
        ],
      },
    },
  },
  "phone-changed": {
    ...notice,
    params: {},
    texts: {
      en: {
        subject: "Your phone number was changed",
        paragraphs: [
          "A phone number was confirmed for your {brand} account. Codes to sign in can go to it.",
          "If it was not you, set a new password at once, then remove the number.",
        ],
      },
      de: {
        subject: "Deine Telefonnummer wurde geändert",
        paragraphs: [
          "Für dein Konto bei {brand} wurde eine Telefonnummer bestätigt. Codes zur Anmeldung können an sie gehen.",
          "Falls du es nicht warst, setze sofort ein neues Passwort und entferne dann die Nummer.",
        ],
      },
    },
  },
  "phone-removed": {
    ...notice,
    params: {},
    texts: {
      en: {
        subject: "Your phone number was removed",
        paragraphs: [
          "The phone number of your {brand} account was removed.",
          "If it was not you, set a new password at once.",
        ],
      },
      de: {
        subject: "Deine Telefonnummer wurde entfernt",
        paragraphs: [
          "Die Telefonnummer deines Kontos bei {brand} wurde entfernt.",
          "Falls du es nicht warst, setze sofort ein neues Passwort.",
        ],
      },
    },
  },
  "login-linked": {
    ...notice,
    params: { provider: "text" },
    texts: {
      en: {
        subject: "A login was linked to your account",
        paragraphs: [
          "A login at {provider} can sign in to your {brand} account now.",
          "If it was not you, set a new password at once, then remove the login.",
        ],
      },
      de: {
        subject: "Eine Anmeldung wurde mit deinem Konto verknüpft",
        paragraphs: [
          "Eine Anmeldung bei {provider} öffnet jetzt dein Konto bei {brand}.",
          "Falls du es nicht warst, setze sofort ein neues Passwort und entferne dann die Anmeldung.",
        ],
      },
    },
  },
  "login-unlinked": {
    ...notice,
    params: { provider: "text" },
    texts: {
      en: {
        subject: "A login was removed from your account",
        paragraphs: [
          "The login at {provider} no longer signs in to your {brand} account.",
          "If it was not you, set a new password at once.",
        ],
      },
      de: {
        subject: "Eine Anmeldung wurde von deinem Konto entfernt",
        paragraphs: [
          "Die Anmeldung bei {provider} öffnet dein Konto bei {brand} nicht mehr.",
          "Falls du es nicht warst, setze sofort ein neues Passwort.",
        ],
      },
    },
  },
} as const;
