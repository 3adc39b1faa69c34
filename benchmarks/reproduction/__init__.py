"""The paper's comparison in stages: five models trained at several budgets, on any machines and days, then judged."""
